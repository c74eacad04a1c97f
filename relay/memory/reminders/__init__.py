"""Reminders: when they are due, and how people write that."""
