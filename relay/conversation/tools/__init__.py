"""The tools that the model calls while it answers."""
