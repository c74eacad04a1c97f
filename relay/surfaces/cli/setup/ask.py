"""Talking with a person at a terminal, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from getpass import getpass

from relay.core.errors import AccessRefused, ModelAccountError, OutOfCredit, RelayError, SettingsError, TokenRefused
from relay.surfaces.cli.setup.sheet import Sheet

Check = Callable[[Sheet], str]
"""Sees whether a part of the sheet is good and says what was found. Raises `RelayError`."""

REFUSALS = (TokenRefused, ModelAccountError, AccessRefused, SettingsError)
"""What certainly does not work. After anything else the person may know better."""
YES = ("y", "yes")


def say(text: str) -> None:
    """Prints a paragraph."""
    print(
        textwrap.fill(
            text, 80, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    )


def typed(prompt: str) -> str:
    """A line from the keyboard. Raises `EOFError` at its end (Ctrl-D)."""
    print(f"  {prompt}", end="", flush=True)
    return input().strip()


def hidden(prompt: str) -> str:
    """A line that is not shown while it is typed or pasted. Raises `EOFError` at its end (Ctrl-D)."""
    return getpass(f"  {prompt}").strip()


def looked(sheet: Sheet, doing: str, check: Check) -> RelayError | None:
    """Says what is being done and what came of it. Returns what went wrong."""
    print(f"  {doing} …", end=" ", flush=True)
    try:
        print(f"{check(sheet)}.")
    except RelayError as error:
        print()
        say(str(error))
        return error
    return None


def settled(error: RelayError | None) -> bool:
    """Whether an answer stands: it is good, or the person keeps it although it could not be checked."""
    if error is None:
        return True
    if isinstance(error, OutOfCredit):  # the key is right
        return typed("Keep it all the same? [y/N] ").lower() in YES
    return not isinstance(error, REFUSALS) and typed("Keep it all the same, unchecked? [y/N] ").lower() in YES


def having(sheet: Sheet, answers: Mapping[str, str]) -> Sheet | None:
    """The sheet with these answers; None, and a sentence said, when one of them cannot be right."""
    try:
        return sheet.having(answers)
    except SettingsError as error:
        say(str(error))
        return None


def tried(sheet: Sheet, answers: Mapping[str, str], doing: str, check: Check) -> Sheet | None:
    """The sheet with these answers, when they stand; None: ask again."""
    new = having(sheet, answers)
    return new if new is not None and settled(looked(new, doing, check)) else None


def keepable(sheet: Sheet, doing: str, check: Check) -> bool:
    """Whether what is set already may stay."""
    trouble = looked(sheet, doing, check)
    return not isinstance(trouble, REFUSALS) or isinstance(trouble, OutOfCredit)


def from_environment(sheet: Sheet, names: tuple[str, ...], doing: str, check: Check) -> Sheet:
    """What is not asked, because it is in the environment. Raises `SettingsError` when it is no good there."""
    there = " and ".join(name for name in names if sheet.fixed(name))
    say(f"Taken from the environment: {there}.")
    if not keepable(sheet, doing, check):
        raise SettingsError(f"Correct {there} in the environment, then try again.")
    return sheet
