"""What can be found out about an installation from outside it."""
