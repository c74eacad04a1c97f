"""Texts that the small model writes of conversations: summaries, titles, proposals."""
