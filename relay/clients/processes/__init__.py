"""Processes of Relay's own: how they are started, asked and ended."""
