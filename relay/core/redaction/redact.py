"""Removes secrets from what goes into the event log, and what the operator's patterns match."""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog

from relay.core.errors import RelayError, SettingsError
from relay.core.frozen import frozen
from relay.core.program import hide_package

with hide_package("rich"):  # 4 MB, for tracebacks that `_lines` writes instead
    import structlog

QUIET = ("httpx", "httpcore", "telegram", "apscheduler", "psycopg", "asyncio")
"""Libraries whose INFO lines are noise, or contain addresses with tokens."""

PLAIN = (RelayError, OSError, AttributeError, ImportError, NameError, TypeError, RuntimeError, AssertionError)
"""Errors whose text is about the code or the machine. Others may quote someone's words."""
WITHHELD = "(its text is logged at DEBUG)"
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def configure(level: str, form: str, secrets: Iterable[str]) -> None:
    """Sets up structlog and the standard library's loggers. `form`: console, json, or empty to choose by whether stderr
    is a terminal."""
    hidden = sorted({secret for secret in secrets if len(secret) >= 6}, key=len, reverse=True)

    def hide(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: _remove_secrets(value, hidden) for key, value in event.items()}

    def told(exc_info: ExcInfo) -> str:
        return "".join(_lines(exc_info[1], level == "DEBUG")).rstrip()

    console = form == "console" or (not form and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=not console),
        structlog.processors.ExceptionRenderer(told),
        hide,
    ]
    renderer: Any = _console() if console else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level)),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=getattr(logging, level), force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    sys.excepthook = _log_crash
    # This logger writes a traceback for every error page; Relay logs the errors that it raises in one line.
    logging.getLogger("telegram.request").setLevel(logging.CRITICAL)


def silence() -> None:
    """Turns logging off until `configure` is called."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL), cache_logger_on_first_use=False
    )
    logging.basicConfig(handlers=[logging.NullHandler()], force=True)


def _console() -> structlog.dev.ConsoleRenderer:
    # Tracebacks are already text. structlog's own would show local variables.
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def _lines(error: BaseException, texts: bool) -> Iterator[str]:
    """Yields a traceback, causes first. `texts`: include error texts that may quote someone."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _lines(before, texts)
        yield "\nwhich led to:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    said = str(error)
    if said and not texts and not isinstance(error, PLAIN):
        said = WITHHELD
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    yield f"{name}: {said}\n" if said else f"{name}\n"
    for one in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield from _lines(one, texts)


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Logs an uncaught exception like any other error."""
    structlog.get_logger().critical("ended by an error", exc_info=(kind, error, trace))


def _remove_secrets(value: Any, hidden: list[str]) -> Any:
    """Removes every secret from a value of any shape. Values that aren't text become text if they contain one."""
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, "[secret]")
        return value
    if isinstance(value, dict):
        return {_remove_secrets(key, hidden): _remove_secrets(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_remove_secrets(item, hidden) for item in value]
    if value is None or isinstance(value, int | float):
        return value
    text = repr(value)
    return _remove_secrets(text, hidden) if any(secret in text for secret in hidden) else value


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


def load_patterns(path: Path | None) -> tuple[OwnPattern, ...]:
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


def remove_matches(text: str, patterns: Sequence[OwnPattern], seconds: float = SECONDS) -> str:
    """Returns a text without what the patterns match, or nothing of it if they take longer than `seconds`."""
    until = time.monotonic() + seconds
    for own in patterns:
        try:
            text = own.pattern.sub(MARK, text, timeout=max(0.001, until - time.monotonic()))
        except TimeoutError:
            log.warning("a pattern of RELAY_REDACT takes too long; the whole text is left out", line=own.line)
            return MARK
    return text


SECRET = re.compile(
    r"""(?x)
    \b\d{5,12}:[A-Za-z0-9_-]{30,}\b                                # a Telegram bot token
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}\b                          # API keys of the sk-… kind
    | \b(?:gh[pousr]|github_pat|glpat|xox[abprs])[_-][A-Za-z0-9_-]{16,}\b
    | \bAKIA[0-9A-Z]{16}\b
    # A JSON Web Token, with what runs into it. Only from the beginning of a run: from each of its signs on, it would
    # take the square of a text's length.
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
