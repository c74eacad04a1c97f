"""Background work, its schedule, and alerts to admins."""
