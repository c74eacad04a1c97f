"""Renders search, summaries, digests, and the explanation of an answer."""
