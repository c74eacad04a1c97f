"""Combines the parts of a phrase into the moment or rule that they mean."""
