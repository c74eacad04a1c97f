"""The SQL functions as methods, by subject."""
