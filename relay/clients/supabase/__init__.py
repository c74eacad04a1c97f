"""Supabase: the database through `rpc`, and its file storage."""
