"""Reminders: made, listed, changed, and held back."""
