"""The HTTP listeners: health and metrics pages, and Telegram's webhook."""
