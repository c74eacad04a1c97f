"""Groups, and who may use the bot."""
