"""Vectors of texts, made in a process of their own."""
