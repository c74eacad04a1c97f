"""Finds which parts of a phrase say when."""
