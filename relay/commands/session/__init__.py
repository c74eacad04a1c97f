"""Conversations: their beginning and end, settings, voice."""
