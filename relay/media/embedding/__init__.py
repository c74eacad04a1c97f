"""Vectors of texts, in a process of its own that holds the model."""
