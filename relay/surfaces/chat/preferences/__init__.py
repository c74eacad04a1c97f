"""Renders preferences: how people like answers."""
