"""Lengths, counts and sizes that more than one module uses. Lengths are in characters, tokens are estimated."""

from __future__ import annotations

FACT_LENGTH = 500
"""A fact in a person's own words."""
TAGGED_FACT_LENGTH = 200
"""A fact that a model marks in its answer, or finds in a conversation."""
MERGED_FACT_LENGTH = 300
"""A fact that the night makes of several."""
LEARNING_LENGTH = 2_000
FORGET_LETTERS = 3
"""The least that says what to forget."""
TITLE_LENGTH = 80
"""A conversation's title as a person writes it."""
WRITTEN_TITLE_LENGTH = 60
"""A conversation's title as the small model writes it."""
MESSAGE_LENGTH = 400_000
"""What one input may have, all its Telegram messages together."""
SOUL_TOKENS = 4_000
PERSONA_TOKENS = 1_000
SUMMARY_TOKENS = 1_500
PREFERENCE_TOKENS = 200
PATTERN_LENGTH = 60
"""What somebody likes about answers, in words."""
TAGGED_PATTERNS = 3
"""As many can be said of an answer at once."""
MAX_OFFSET = 10_000
"""How many entries of a list can be skipped."""
