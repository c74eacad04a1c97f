"""Messages on their way to Telegram."""
