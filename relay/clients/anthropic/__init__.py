"""Claude, through the Messages API."""
