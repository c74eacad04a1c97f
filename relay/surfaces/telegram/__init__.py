"""The Telegram surface: what comes in, what goes out, and how it looks there."""
