"""The running bot: its parts, its start and its end."""
