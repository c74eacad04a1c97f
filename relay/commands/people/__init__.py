"""Who may use the bot, and how it behaves in groups."""
