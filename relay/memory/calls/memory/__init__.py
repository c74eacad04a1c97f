"""What is known: changing, reading, searching, reviewing and erasing it."""
