"""Starts, calls and ends Relay's child processes."""
