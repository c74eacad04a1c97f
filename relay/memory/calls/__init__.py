"""The SQL functions by subject, one method each."""
