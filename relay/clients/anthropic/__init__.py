"""Claude through the `anthropic` package."""
