"""`relay doctor`: what it checks."""
