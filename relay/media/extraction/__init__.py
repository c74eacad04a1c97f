"""Extracts text, pictures and sound from people's files, in a process without rights."""
