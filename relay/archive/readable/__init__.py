"""The readable text of an export."""
