"""Length limits for the soul and personas."""

from __future__ import annotations

from relay.core.errors import CommandRefused
from relay.core.prompt_markup import estimate_tokens


def check_length(text: str, limit: int, what: str) -> None:
    """Raises `CommandRefused` if a text has more than `limit` tokens."""
    tokens = estimate_tokens(text)
    if tokens > limit:
        raise CommandRefused(f"That is about {tokens} tokens; a {what} has at most {limit}.")
