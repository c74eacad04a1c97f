"""Jobs that send messages unasked."""
