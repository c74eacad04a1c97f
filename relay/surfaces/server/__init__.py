"""The running bot: its parts and its life."""
