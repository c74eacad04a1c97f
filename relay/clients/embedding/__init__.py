"""Text embedding in a separate process."""
