"""Memories: changing, reading, searching, reviewing and erasing them."""
