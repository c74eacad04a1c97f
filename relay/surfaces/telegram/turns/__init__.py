"""From a claimed turn to a stored reply."""
