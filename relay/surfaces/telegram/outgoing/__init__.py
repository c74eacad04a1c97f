"""What Relay sends to Telegram."""
