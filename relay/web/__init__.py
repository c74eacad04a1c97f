"""What Relay shows over HTTP: whether it is well, and its numbers. Nothing of anybody's memory."""
