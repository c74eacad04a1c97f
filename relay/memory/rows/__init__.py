"""What the SQL functions return, by subject: frozen dataclasses, decoded by the store."""
