"""Commands that turn memory on, off or pause it, set what the terminal uses, or go off the record."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.memory.group import Words, memory
from relay.surfaces.cli.output import AsJson


@memory.command("on")
def switch_on(as_json: AsJson = False) -> None:
    """Turn memory on: recall and learn again."""
    _switch("on", as_json)


@memory.command("off")
def switch_off(as_json: AsJson = False) -> None:
    """Turn memory off: recall nothing and learn nothing."""
    _switch("off", as_json)


@memory.command()
def pause(
    until: Annotated[list[str], typer.Argument(help="2h, 3d, or until 2026-12-24.")], as_json: AsJson = False
) -> None:
    """Pause memory for a while: recall nothing and learn nothing."""
    _switch(f"pause {' '.join(until)}", as_json)


@memory.command()
def resume(as_json: AsJson = False) -> None:
    """End a pause."""
    _switch("resume", as_json)


@memory.command()
def here(how: Words = None, as_json: AsJson = False) -> None:
    """ignore, use, quiet or teach: whether conversations in the terminal use memory and add to it."""
    _switch(f"here {' '.join(how or [])}".strip(), as_json)


@memory.command()
def private(how: Words = None, as_json: AsJson = False) -> None:
    """Talk off the record in the terminal from now on; off: end and erase it."""
    run_command_line("private", " ".join(how or []), False, as_json)


def _switch(words: str, as_json: bool) -> None:
    """Runs the words after /memory in the chat."""
    run_command_line("memory", words, False, as_json)
