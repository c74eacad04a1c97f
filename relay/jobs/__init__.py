"""Background work: when it runs, and how admins hear of trouble."""
