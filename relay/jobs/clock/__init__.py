"""When work is due: schedules and the clock."""
