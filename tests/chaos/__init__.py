"""Chaos: a crowd talks while everything under the bot breaks, and a checker says whether each promise was kept."""
