"""Relay: a self-hosted Telegram assistant on Claude that remembers."""
