"""Schedules, and the clock that runs jobs by them."""
