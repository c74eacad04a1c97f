"""Contexts: markers, versions, compositions."""
