"""Prompts and output of setup, 80 columns wide."""

from __future__ import annotations

import contextlib
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from getpass import getpass

from relay.core.errors import AccessRefused, ModelAccountError, OutOfCredit, RelayError, SettingsError, TokenRefused
from relay.surfaces.cli.setup.sheet import Sheet

Check = Callable[[Sheet], str]
"""Checks a part of the sheet and returns a description. Raises `RelayError`."""

REFUSALS = (TokenRefused, ModelAccountError, AccessRefused, SettingsError)
"""Errors of answers that certainly don't work. After other errors, the person may keep an answer."""
YES = ("y", "yes")


def say(text: str) -> None:
    """Prints a paragraph."""
    print(
        textwrap.fill(
            text, 80, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    )


def read_line(prompt: str) -> str:
    """Reads a line from the keyboard. Raises `EOFError` on Ctrl-D."""
    print(f"  {prompt}", end="", flush=True)
    return input().strip()


@contextlib.contextmanager
def end_on_sigterm() -> Iterator[None]:
    """Makes SIGTERM raise `SystemExit`, so that the terminal is left as it was."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@end_on_sigterm()
def read_hidden(prompt: str) -> str:
    """Reads a line without showing it. Raises `EOFError` on Ctrl-D."""
    return getpass(f"  {prompt}").strip()


@contextlib.contextmanager
def ignore_keyboard() -> Iterator[None]:
    """Neither shows nor keeps what is typed meanwhile: it may be the next key. Ctrl-C still works."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    hidden = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    with end_on_sigterm():
        try:
            termios.tcsetattr(keyboard, termios.TCSANOW, hidden)
            yield
        finally:
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)


def show_choices(labels: Iterable[str]) -> None:
    """Prints numbered choices, for `pick`."""
    for number, label in enumerate(labels, 1):
        print(f"  {number}  {label}")


def pick(question: str, present: int) -> int:
    """Asks for one of three choices, and returns its index. Enter: the present one."""
    while True:
        answer = read_line(f"{question}1, 2 or 3 [{present + 1}]: ") or str(present + 1)
        if answer in ("1", "2", "3"):
            return int(answer) - 1


def run_check(sheet: Sheet, doing: str, check: Check) -> RelayError | None:
    """Runs a check, and prints what it does and its result. Returns the error, if any."""
    print(f"  {doing} …", end=" ", flush=True)
    try:
        with ignore_keyboard():
            found = check(sheet)
        print(f"{found}.")
    except RelayError as error:
        print()
        say(str(error))
        return error
    return None


def accept(error: RelayError | None) -> bool:
    """Tests whether to accept an answer: it passed its check, or the person keeps it anyway."""
    if error is None:
        return True
    if isinstance(error, OutOfCredit):  # the key is right
        return read_line("Keep it anyway? [y/N] ").lower() in YES
    return not isinstance(error, REFUSALS) and read_line("Keep it anyway, unchecked? [y/N] ").lower() in YES


def add_answers(sheet: Sheet, answers: Mapping[str, str]) -> Sheet | None:
    """Adds answers to the sheet. If one is invalid, prints why and returns None."""
    try:
        return sheet.with_answers(answers)
    except SettingsError as error:
        say(str(error))
        return None


def try_answers(sheet: Sheet, answers: Mapping[str, str], doing: str, check: Check) -> Sheet | None:
    """Adds answers to the sheet if they are accepted; None: ask again."""
    new = add_answers(sheet, answers)
    return new if new is not None and accept(run_check(new, doing, check)) else None


def can_keep(sheet: Sheet, doing: str, check: Check) -> bool:
    """Tests whether the present settings may stay."""
    trouble = run_check(sheet, doing, check)
    return not isinstance(trouble, REFUSALS) or isinstance(trouble, OutOfCredit)


def use_environment(sheet: Sheet, names: tuple[str, ...], doing: str, check: Check) -> Sheet:
    """Takes settings from the environment without asking. Raises `SettingsError` if they fail their check."""
    there = " and ".join(name for name in names if sheet.is_fixed(name))
    say(f"Taken from the environment: {there}.")
    if not can_keep(sheet, doing, check):
        raise SettingsError(f"Correct {there} in the environment, then try again.")
    return sheet
