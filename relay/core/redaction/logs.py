"""Logging: readable on a terminal, JSON elsewhere. Every line is cleared of secrets. People's words appear at DEBUG
only."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from relay.core.errors import RelayError
from relay.core.program import hide_package, shows_colours

with hide_package("rich"):  # 4 MB, for tracebacks that `_lines` writes instead
    import structlog

QUIET = ("httpx", "httpcore", "telegram", "apscheduler", "psycopg", "asyncio")
"""Libraries whose INFO lines are noise, or contain addresses with tokens."""

PLAIN = (RelayError, OSError, AttributeError, ImportError, NameError, TypeError, RuntimeError, AssertionError)
"""Errors whose text is about the code or the machine. Others may quote someone's words."""
SENTENCES = logging.getLogger("relay")
"""Its level is WARNING if sentences are written to the log, see `say`."""
WITHHELD = "(its text is logged at DEBUG)"
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class _Stderr:
    """Standard error that may be gone, as when its terminal is closed: a line that can't be written doesn't stop any
    work."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            return sys.stderr.write(text)
        return 0

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def configure(level: str, form: str, secrets: Iterable[str], plain: bool = False) -> None:
    """Sets up structlog and the standard library's loggers. `form`: console, json, or empty to choose by whether stderr
    is a terminal. `plain`: `say` writes plain text unless `form` is json."""
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
        logger_factory=structlog.PrintLoggerFactory(file=_Stderr()),  # type: ignore[arg-type]  # only writes
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=getattr(logging, level), force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, getattr(logging, level)))
    as_lines = form == "json" or not (console or plain)
    SENTENCES.setLevel(logging.WARNING if as_lines else logging.NOTSET)
    logging.captureWarnings(True)
    sys.excepthook = _log_crash
    # This logger writes a traceback for every error page; Relay logs the errors that it raises in one line.
    logging.getLogger("telegram.request").setLevel(logging.CRITICAL)


def say(sentence: str) -> None:
    """Says something on standard error, whatever the level: as a line of the log if that is JSON, see `configure`."""
    if SENTENCES.level == logging.WARNING:
        SENTENCES.warning(sentence)
    else:
        print(f"relay: {sentence}", file=sys.stderr, flush=True)


def silence() -> None:
    """Turns logging off until `configure` is called."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL), cache_logger_on_first_use=False
    )
    logging.basicConfig(handlers=[logging.NullHandler()], force=True)
    SENTENCES.setLevel(logging.NOTSET)


def _console() -> structlog.dev.ConsoleRenderer:
    # Tracebacks are already text. structlog's own would show local variables.
    colours = shows_colours(sys.stderr) and sys.platform != "win32"  # there structlog needs another package for them
    return structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback)


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
