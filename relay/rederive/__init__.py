"""Deriving again what was derived from the record by an older version: shown before it is applied."""
