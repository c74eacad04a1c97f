"""Conversations: beginning and ending them, settings, voice."""
