"""Asks the questions of setup, in order, and saves the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from relay.clients.embedding.installed import parse_embedder
from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.core.redaction.logs import silence
from relay.core.settings import Settings
from relay.runtime.embedder_router import explain_missing_embedder
from relay.surfaces.cli.setup import bot, model, speech, storage, zone
from relay.surfaces.cli.setup.ask import Check, say
from relay.surfaces.cli.setup.env_file import fill_in, read, write
from relay.surfaces.cli.setup.sheet import Sheet
from relay.surfaces.cli.terminal.keyboard import is_attended

WELCOME = """Welcome to Relay. Setup asks for two keys and a few choices. It checks each key
at once and never shows it. Nothing is written before the last answer. Press
Ctrl-C to stop."""
STOPPED = "\nStopped. Nothing was written. You can run setup again at any time."
NO_TERMINAL = (
    f"`{RELAY} setup` asks questions, so it needs a terminal. "
    f"`{RELAY} setup --non-interactive` takes the answers from flags or the environment."
)
SEARCH = "Search uses words"


class Question(NamedTuple):
    """A section of setup: its heading, its questions, and the check of the answers."""

    heading: str
    ask: Callable[[Sheet], Sheet]
    check: Check


QUESTIONS = (
    Question("Your bot", bot.ask, bot.check),
    Question("Claude", model.ask, model.check),
    Question("Time zone", zone.ask, zone.check),
    Question("Storage", storage.ask, storage.check),
    Question("Voice notes", speech.ask, speech.check),
)


def interview() -> Path:
    """Asks all questions and writes `.env` in the current directory. Returns its path.

    Raises `SettingsError`; `SystemExit` (130) when the person ends it.
    """
    if not is_attended():
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
    say(describe_search(sheet.settings()))
    write(path, fill_in(text, sheet.answers))
    return path


def describe_search(settings: Settings) -> str:
    """Names the embedder, or explains how to install one."""
    what = parse_embedder(settings.embedder)
    if what is None:
        return f"{SEARCH} only (RELAY_EMBEDDER is off)."
    if lack := explain_missing_embedder(settings):
        return f"{SEARCH} only: {lack}"
    return f"{SEARCH} and meaning ({what.engine})."
