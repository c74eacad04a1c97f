"""Lengths, counts and sizes that more than one module uses. Lengths are in characters, tokens are estimated."""

from __future__ import annotations

FACT_LENGTH = 500
"""A fact as a person words it."""
TAGGED_FACT_LENGTH = 200
"""A fact from a model's tag, or from the judge."""
MERGED_FACT_LENGTH = 300
"""A fact that consolidation merges from several."""
LEARNING_LENGTH = 2_000
FORGET_LETTERS = 3
"""The fewest letters and digits that can identify a memory to forget."""
TITLE_LENGTH = 80
"""A conversation title that a person sets."""
WRITTEN_TITLE_LENGTH = 60
"""A conversation title that the small model writes."""
MESSAGE_LENGTH = 400_000
"""One input, across all of its Telegram messages."""
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
