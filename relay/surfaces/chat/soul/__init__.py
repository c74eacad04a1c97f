"""The soul and personas, in versions."""
