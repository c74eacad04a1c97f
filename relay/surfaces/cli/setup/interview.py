"""Asks the questions of setup, in order, and saves the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from relay.core.errors import SettingsError
from relay.core.logs import silence
from relay.core.program import RELAY
from relay.surfaces.cli.setup import bot, meaning, model, speech, storage, zone
from relay.surfaces.cli.setup.ask import Check, say
from relay.surfaces.cli.setup.env_file import filled, read, write
from relay.surfaces.cli.setup.sheet import Sheet

WELCOME = """Welcome to Relay. It takes two keys and three choices. Each key is tried at
once and never shown; nothing is written before the last answer. Ctrl-C ends
this."""
STOPPED = "\nStopped. Nothing was written; begin again whenever you like."
NO_TERMINAL = (
    f"`{RELAY} setup` asks questions, and there is no terminal to ask them at. "
    f"`{RELAY} setup --non-interactive` takes the answers from the environment or from flags."
)


class Question(NamedTuple):
    """A section of setup: its heading, its questions, and the check of the answers."""

    heading: str
    ask: Callable[[Sheet], Sheet]
    check: Check


QUESTIONS = (
    Question("Your bot", bot.ask, bot.check),
    Question("Claude", model.ask, model.check),
    Question("Time zone", zone.ask, zone.check),
    Question("Where its memory is kept", storage.ask, storage.check),
    Question("Voice notes", speech.ask, speech.check),
)


def at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def interview() -> Path:
    """Asks everything and writes `.env` in the current directory. Returns where it is.

    Raises `SettingsError`; `SystemExit` (130) when the person ends it.
    """
    if not at_terminal():
        raise SettingsError(NO_TERMINAL)
    path = Path.cwd() / ".env"
    text = read(path)
    silence()
    sheet = Sheet()
    sheet.settings()
    print(WELCOME)
    try:
        for number, question in enumerate(QUESTIONS, 1):
            print(f"\n{number} of {len(QUESTIONS)} · {question.heading}")
            sheet = question.ask(sheet)
    except (KeyboardInterrupt, EOFError):
        print(STOPPED)
        raise SystemExit(130) from None
    say(meaning.line(sheet.settings()))
    write(path, filled(text, sheet.answers))
    return path
