"""Markdown as Telegram's text with entities. Pure."""
