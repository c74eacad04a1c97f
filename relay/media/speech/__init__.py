"""Speech to text, in a process of its own that holds the model."""
