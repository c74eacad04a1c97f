"""Lengths, counts and sizes that more than one module uses. Lengths are in characters, tokens are estimated."""

from __future__ import annotations

FACT_LENGTH = 500
"""The longest fact that a person can write."""
TAGGED_FACT_LENGTH = 200
"""The longest fact from a model's tag or from the judge."""
MERGED_FACT_LENGTH = 300
"""The longest fact that consolidation merges from several."""
LEARNING_LENGTH = 2_000
FORGOTTEN_AT_ONCE = 100
"""The most memories or changes that one request can name."""
FORGET_LETTERS = 3
"""The fewest letters and digits that can identify a memory to forget."""
ERASE_LETTERS = 2
"""The fewest letters and digits to erase for good: a name such as Al. All matches are shown first."""
TITLE_LENGTH = 80
"""The longest conversation title that a person can set."""
WRITTEN_TITLE_LENGTH = 60
"""The longest conversation title that the small model can write."""
TOPIC_LENGTH = 40
"""The longest topic of a conversation."""
REASON_LENGTH = 200
"""The longest reason for linking a session to another conversation."""
MESSAGE_LENGTH = 400_000
"""The longest input, across all of its Telegram messages."""
SOUL_TOKENS = 4_000
PERSONA_TOKENS = 1_000
SUMMARY_TOKENS = 1_500
MARKED_TOKENS = 500
"""The part of SUMMARY_TOKENS that a summary can spend on marked passages, which it holds word for word."""
MARKERS_PER_MESSAGE = 200
PREFERENCE_TOKENS = 200
PATTERN_LENGTH = 60
"""The longest pattern: what somebody likes about answers, in words."""
TAGGED_PATTERNS = 3
"""The most patterns that one tag of an answer can name."""
MAX_OFFSET = 1_000_000
"""The most entries of a list that can be skipped."""
OPEN_REMINDERS = 200
"""The most reminders that one person can have open."""
REMINDER_LENGTH = 1_000
PHRASE_LENGTH = REMINDER_LENGTH + 200
"""The longest phrase with a time that is read, such as a reminder with its time: reading holds up everything else."""
OPEN_INTENTS = 50
"""The most standing intents that one person can have open."""
INTENT_WORDS_LENGTH = 100
LEAST_BUDGET, MOST_BUDGET = 1_000, 100_000
"""The smallest and the largest budget of a composition, in tokens."""
COMPOSED_BUDGET = 16_000
"""The budget of a composition in tokens, unless somebody chooses another."""
COMPOSED_PARTS = 20
"""The most sessions in a composition."""
COMPOSITION_NAME_LENGTH = 64
CONTEXT_WINDOW = 200_000
"""Tokens that the model can read at once. A composition's share of them is shown."""
API_TOKENS = 50
"""The most API tokens that one person can have."""
TOKEN_NAME_LENGTH = 60
REQUEST_BYTES = 262_144
"""The largest body of an API request, in bytes."""
REQUESTS_PER_MINUTE = 60
"""The most API requests that one person can make in a minute."""
