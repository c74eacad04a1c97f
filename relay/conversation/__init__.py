"""One turn: from what somebody said to a stored answer."""
