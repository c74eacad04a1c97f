"""What a check finds."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, Literal

from relay.core.frozen import frozen

State = Literal["ok", "warning", "failed", "skipped"]
MOST = 400
"""The most characters of a text to show."""


@frozen
class Finding:
    """The result of a check: its name, its state, a description, and how to fix it."""

    name: str
    state: State
    said: str
    fix: str = ""


def ok(name: str, said: str) -> Finding:
    """All is well."""
    return Finding(name, "ok", said)


def warning(name: str, said: str, fix: str) -> Finding:
    """It works, but needs attention."""
    return Finding(name, "warning", said, fix)


def failed(name: str, said: str, fix: str) -> Finding:
    """It does not work, or soon will not."""
    return Finding(name, "failed", said, fix)


def skipped(name: str, said: str) -> Finding:
    """It was not checked, or there is nothing to check."""
    return Finding(name, "skipped", said)


def of_error(name: str, error: Exception | str, fix: str = "", state: State = "failed") -> Finding:
    """Makes a finding of an error: its first sentence says what is wrong, the rest (or `fix`) how to fix it."""
    said, _, rest = re.sub(r"([.)]) (?=[A-Z`])", r"\1\n", str(error)[:MOST], count=1).partition("\n")
    return Finding(name, state, said, rest or fix)


async def run_within(seconds: float, names: tuple[str, ...], work: Coroutine[Any, Any, list[Finding]]) -> list[Finding]:
    """Runs a check; if it takes too long or breaks, that is the finding."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        reason = f"no answer within {seconds:g} s"
    except Exception as error:
        reason = f"the check failed ({type(error).__name__})"
    first, *others = names
    return [
        failed(first, reason, "Try again. If it keeps failing, RELAY_LOG_LEVEL=DEBUG shows more."),
        *skip_until(first, others),
    ]


def skip_all(names: tuple[str, ...], wrong: Mapping[str, str], needs: tuple[str, ...]) -> list[Finding]:
    """Skips these checks if one of the settings they need is wrong."""
    found = next((name for name in (".env", *needs) if name in wrong), None)
    return skip_until(found, names) if found else []


def skip_until(what: str, names: Iterable[str]) -> list[Finding]:
    """Skips these checks until something is fixed."""
    return [skipped(name, f"not checked: fix {what} first") for name in names]
