"""Rows of the features that write unasked: reminders, standing intents, heartbeats."""
