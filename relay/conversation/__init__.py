"""One turn, from the user's message to a stored answer."""
