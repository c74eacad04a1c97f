"""What is derived from messages: how a row was made, and the registry of its kinds."""
