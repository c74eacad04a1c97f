"""Speech to text, in a separate process that holds the model."""
