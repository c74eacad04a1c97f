"""Telegram's Bot API."""
