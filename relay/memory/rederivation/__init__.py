"""Memories and summaries, derived again from the messages they came from."""
