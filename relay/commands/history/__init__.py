"""The past: search, sessions, summaries, digests, and explanations of answers."""
