"""Files that people send: fetched, read, and shown to the model."""
