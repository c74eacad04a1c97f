"""The judge: decides what in a conversation is worth keeping."""
