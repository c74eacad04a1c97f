"""Where people reach Relay: Telegram, the terminal, HTTP."""
