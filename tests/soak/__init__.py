"""A bot that runs for hours between stand-ins, and what becomes of its memory, files, latency and database."""
