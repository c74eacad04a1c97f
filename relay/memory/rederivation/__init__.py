"""Derives memories and summaries again from their messages."""
