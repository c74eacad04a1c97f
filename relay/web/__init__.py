"""What listens for HTTP."""
