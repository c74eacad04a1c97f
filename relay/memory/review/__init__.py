"""The judge: what in a conversation is worth keeping."""
