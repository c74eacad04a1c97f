"""Replaces PyAV; it only has to exist."""
