"""Incoming updates, by polling or by webhook."""
