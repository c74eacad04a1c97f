"""Converts Markdown to Telegram's text and entities. Pure."""
