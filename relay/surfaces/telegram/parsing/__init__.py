"""Parses Telegram's updates and messages. Pure."""
