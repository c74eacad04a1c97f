"""What a check finds."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["ok", "warning", "failed", "skipped"]
MOST = 400
"""Characters of a text that is shown."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of what was looked at: what it is about, how it is, and how to mend it."""

    name: str
    state: State
    said: str
    fix: str = ""


def ok(name: str, said: str) -> Finding:
    """All is well."""
    return Finding(name, "ok", said)


def warning(name: str, said: str, fix: str) -> Finding:
    """It works, and somebody should look all the same."""
    return Finding(name, "warning", said, fix)


def failed(name: str, said: str, fix: str) -> Finding:
    """It does not work, or will not."""
    return Finding(name, "failed", said, fix)


def skipped(name: str, said: str) -> Finding:
    """It was not looked at, or there is nothing to look at."""
    return Finding(name, "skipped", said)


def of_error(name: str, error: Exception | str, fix: str = "", state: State = "failed") -> Finding:
    """An error of ours: its first sentence says what is wrong, the others how to mend it, or `fix` does."""
    said, _, rest = re.sub(r"([.)]) (?=[A-Z`])", r"\1\n", str(error)[:MOST], count=1).partition("\n")
    return Finding(name, state, said, rest or fix)


async def within(seconds: float, names: tuple[str, ...], work: Coroutine[Any, Any, list[Finding]]) -> list[Finding]:
    """The findings of some work; of one that takes too long, or breaks, that it did."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        reason = f"no answer within {seconds:g} s"
    except Exception as error:
        reason = f"the check itself broke off ({type(error).__name__})"
    first, *others = names
    return [
        failed(first, reason, "Try again; if it stays so, RELAY_LOG_LEVEL=DEBUG tells more."),
        *(skipped(name, f"not looked at: {first} comes first") for name in others),
    ]


def in_vain(names: tuple[str, ...], wrong: Mapping[str, str], needs: tuple[str, ...]) -> list[Finding]:
    """That these were not looked at, when one of the settings they need is wrong."""
    found = next((name for name in (".env", *needs) if name in wrong), None)
    return [skipped(name, f"not looked at: {found} comes first") for name in names] if found else []
