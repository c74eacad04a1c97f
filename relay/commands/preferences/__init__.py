"""Preferences: how people like answers."""
