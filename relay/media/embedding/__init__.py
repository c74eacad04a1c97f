"""Text embedding, in a separate process that holds the model."""
