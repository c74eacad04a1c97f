"""Texts that the small model writes: summaries, titles, proposals."""
