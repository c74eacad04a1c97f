"""Logging: for people on a terminal, JSON otherwise. Secrets are taken out of every line; texts are never in it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any

import structlog

QUIET = ("httpx", "httpx2", "httpcore", "httpcore2", "telegram", "apscheduler", "anthropic", "psycopg", "asyncio")
"""Libraries whose INFO lines say nothing to a person, or print addresses with tokens in them."""


def configure(level: str, form: str, secrets: Iterable[str]) -> None:
    """Sets up structlog and the standard library's loggers. `form`: console, json, or empty to choose by terminal."""
    hidden = sorted({secret for secret in secrets if len(secret) >= 6}, key=len, reverse=True)

    def hide(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: _without(value, hidden) for key, value in event.items()}

    console = form == "console" or (not form and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=not console),
        structlog.processors.format_exc_info,
        hide,
    ]
    renderer: Any = structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
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
    # It prints a traceback for each error page; what it raises is logged here in one line.
    logging.getLogger("telegram.request").setLevel(logging.CRITICAL)


def silence() -> None:
    """Nothing is logged from here on, until `configure` says otherwise."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL), cache_logger_on_first_use=False
    )
    logging.basicConfig(handlers=[logging.NullHandler()], force=True)


def _without(value: Any, hidden: list[str]) -> Any:
    """A value of any shape with every secret taken out; what is no text is made one when it holds a secret."""
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, "[secret]")
        return value
    if isinstance(value, dict):
        return {_without(key, hidden): _without(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without(item, hidden) for item in value]
    if value is None or isinstance(value, int | float):
        return value
    text = repr(value)
    return _without(text, hidden) if any(secret in text for secret in hidden) else value
