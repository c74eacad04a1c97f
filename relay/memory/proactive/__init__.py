"""Messages that are sent unasked and need a model: the gates before the check, and the check itself."""
