"""Relay's child processes: starting, calling and ending them."""
