"""How people like answers."""
