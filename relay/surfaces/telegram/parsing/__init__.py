"""Updates and messages as Telegram sends them, read. Pure."""
