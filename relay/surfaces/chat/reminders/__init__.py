"""Renders reminders."""
