"""The rows of a turn: its updates, what it loads, its result, and why."""
