"""The operator's own patterns of text that must never get into the event log, from the file that RELAY_REDACT names.

The engine is the package `regex`, not `re`: it has a timeout, so no pattern can hold up the bot.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog

from relay.core.errors import SettingsError
from relay.core.frozen import frozen

log = structlog.get_logger()

MARK = "[redacted]"
SECONDS = 0.05
"""The most seconds that all patterns together may take for one text. A text that takes longer is removed as a whole."""
MOST_BYTES = 65_536
MOST_PATTERNS = 200


@frozen
class OwnPattern:
    """A pattern and its line number in the file."""

    line: int
    pattern: Any


def load(path: Path | None) -> tuple[OwnPattern, ...]:
    """Returns the patterns of a file, one per line; none without a file. Empty lines and lines that begin with # are
    skipped.

    Raises `SettingsError`, which names the line, for an invalid pattern or one that matches the empty text.
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
        raise SettingsError(f"RELAY_REDACT: {path} has {len(found):,} patterns; the limit is {MOST_PATTERNS}.")
    return tuple(_compile(path, number, line) for number, line in found)


def _compile(path: Path, number: int, line: str) -> OwnPattern:
    import regex

    try:
        own = OwnPattern(number, regex.compile(line))
        empty = own.pattern.search("", timeout=SECONDS) is not None
    except (regex.error, TimeoutError) as error:
        raise SettingsError(f"RELAY_REDACT: line {number} of {path} is not a regular expression: {error}.") from None
    if empty:
        raise SettingsError(
            f"RELAY_REDACT: line {number} of {path} also matches the empty text, so it matches everywhere. "
            "Make it require at least one character: + instead of *."
        )
    return own


def remove_matches(text: str, patterns: Sequence[OwnPattern]) -> str:
    """Returns a text without what the patterns match, or nothing of it if they take longer than `SECONDS`."""
    until = time.monotonic() + SECONDS
    for own in patterns:
        try:
            text = own.pattern.sub(MARK, text, timeout=max(0.001, until - time.monotonic()))
        except TimeoutError:
            log.warning("a pattern of RELAY_REDACT takes too long; the whole text is left out", line=own.line)
            return MARK
    return text
