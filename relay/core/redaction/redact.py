"""Removes secrets from what goes into the event log, and what the operator's patterns match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from relay.core.redaction.patterns import MARK, OwnPattern, remove_matches

SECRET = re.compile(
    r"""(?x)
    \b\d{5,12}:[A-Za-z0-9_-]{30,}\b                                # a Telegram bot token
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}\b                          # API keys of the sk-… kind
    | \b(?:gh[pousr]|github_pat|glpat|xox[abprs])[_-][A-Za-z0-9_-]{16,}\b
    | \bAKIA[0-9A-Z]{16}\b
    # A JSON Web Token, with what runs into it. Only from the beginning of a run: trying each of its characters would
    # take quadratic time.
    | (?<![A-Za-z0-9_-])(?:[A-Za-z0-9_]*-){0,3}eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{5,}\b
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|$)
    | \b(?:\d[ -]?){13,19}\b                                       # a card number, checked below
    | \b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b    # an IBAN, checked below
    """
)
SHORTEST = 13
"""The length of the shortest secret that the patterns above can match."""
_own: tuple[OwnPattern, ...] = ()


def use_patterns(patterns: Sequence[OwnPattern]) -> None:
    """Sets the operator's patterns for this process. They replace those that were set before."""
    global _own
    _own = tuple(patterns)


def passes_luhn(digits: str) -> bool:
    """Tests whether digits pass the check of ISO/IEC 7812 (card numbers)."""
    total = sum(d if i % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for i, d in enumerate(map(int, reversed(digits))))
    return total % 10 == 0


def passes_iban(text: str) -> bool:
    """Tests whether a text passes the check of ISO 13616 (modulo 97 is 1)."""
    turned = text[4:] + text[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _mark(match: re.Match[str]) -> str:
    found = match[0]
    compact = re.sub(r"[ -]", "", found)
    if compact.isdigit():
        return MARK if 13 <= len(compact) <= 19 and passes_luhn(compact) else found
    if re.match(r"^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$", compact):
        return MARK if passes_iban(compact) else found
    return MARK


def redact(text: str) -> str:
    """Returns a text without keys, tokens, card numbers, IBANs, and what RELAY_REDACT names."""
    text = SECRET.sub(_mark, text) if len(text) >= SHORTEST else text
    return remove_matches(text, _own) if _own else text


def redact_value(value: Any) -> Any:
    """Returns a JSON value with `redact` applied to its texts; None if there was nothing to remove."""
    changed = _walk(value)
    return None if changed == value else changed


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _walk(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item) for item in value]
    return value
