"""What was said: search, sessions, summaries, digests, and why an answer came out as it did."""
