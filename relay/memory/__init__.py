"""The memory engine, usable without Telegram."""
