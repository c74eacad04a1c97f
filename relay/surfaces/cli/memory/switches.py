"""Commands that turn memory on, off or pause it, set what the terminal uses, or go off the record."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.surfaces.cli.chat_commands import chat_command
from relay.surfaces.cli.memory.group import Words, memory
from relay.surfaces.cli.owner import parameter

UNTIL = parameter("until", Annotated[list[str], typer.Argument(help="2h, 3d, or until 2026-12-24.")])
HOW = parameter("how", Words, None)

for name, own, about in (
    ("on", [], "Turn memory on: recall and learn again."),
    ("off", [], "Turn memory off: recall nothing and learn nothing."),
    ("pause", [UNTIL], "Pause memory for a while: recall nothing and learn nothing."),
    ("resume", [], "End a pause."),
    ("here", [HOW], "ignore, use, quiet or teach: whether conversations in the terminal use memory and add to it."),
):
    memory.command(name, help=about)(chat_command("memory", *own, before=name))
memory.command("private", help="Talk off the record in the terminal from now on; off: end and erase it.")(
    chat_command("private", HOW)
)
