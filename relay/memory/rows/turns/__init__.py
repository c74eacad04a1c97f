"""What belongs to a turn: its updates, what it loads, what it comes to, and why."""
