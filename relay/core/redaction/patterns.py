"""A person's own patterns of what never gets into the log of events: those of the file that RELAY_REDACT names.

The engine is the package `regex`, not `re`: it can be told when to give up, so no pattern holds up the bot.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from relay.core.errors import SettingsError

log = structlog.get_logger()

MARK = "[redacted]"
SECONDS = 0.05
"""For so long all patterns together may look at one text; one that they cannot look through in that goes whole."""
MOST_BYTES = 65_536
MOST_PATTERNS = 200


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """One pattern, and the line of the file where it stands."""

    line: int
    pattern: Any


def load(path: Path | None) -> tuple[OwnPattern, ...]:
    """The patterns of a file: one a line, empty lines and those that begin with # aside; none without a file.

    Raises `SettingsError`, which names the line, for one that is none or that matches where there is nothing.
    """
    if path is None:
        return ()
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SettingsError(f"RELAY_REDACT: {path} is too large for a list of patterns ({MOST_BYTES:,} bytes).")
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise SettingsError(f"RELAY_REDACT: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"RELAY_REDACT: {path} is not UTF-8 text.") from None
    found = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    found = [(number, line) for number, line in found if line and not line.startswith("#")]
    if len(found) > MOST_PATTERNS:
        raise SettingsError(f"RELAY_REDACT: {path} has {len(found):,} patterns; {MOST_PATTERNS} are the most.")
    return tuple(_compiled(path, number, line) for number, line in found)


def _compiled(path: Path, number: int, line: str) -> OwnPattern:
    import regex

    try:
        own = OwnPattern(number, regex.compile(line))
        empty = own.pattern.search("", timeout=SECONDS) is not None
    except (regex.error, TimeoutError) as error:
        raise SettingsError(f"RELAY_REDACT: line {number} of {path} is no regular expression: {error}.") from None
    if empty:
        raise SettingsError(
            f"RELAY_REDACT: line {number} of {path} matches where there is nothing, and so everywhere. "
            "Let it ask for at least one character: + instead of *."
        )
    return own


def remove_matches(text: str, patterns: Sequence[OwnPattern], seconds: float = SECONDS) -> str:
    """A text without what the patterns match; when they take longer than `seconds`, nothing of it is left."""
    until = time.monotonic() + seconds
    for own in patterns:
        try:
            text = own.pattern.sub(MARK, text, timeout=max(0.001, until - time.monotonic()))
        except TimeoutError:
            log.warning("a pattern of RELAY_REDACT takes too long; the whole text is left out", line=own.line)
            return MARK
    return text
