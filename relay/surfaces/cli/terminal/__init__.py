"""Commands and conversations at a terminal."""
