"""Renders markers: passages to keep word for word."""
