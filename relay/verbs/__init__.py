"""What a user or an operator can do."""
