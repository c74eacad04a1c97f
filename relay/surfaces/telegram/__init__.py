"""The Telegram surface: incoming updates, outgoing messages, and their format."""
