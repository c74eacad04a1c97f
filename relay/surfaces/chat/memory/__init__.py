"""Renders memories, and what people do with them."""
