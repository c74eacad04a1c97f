"""The command group `relay session`: the library of past sessions in the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.history.sessions import session_named as find
from relay.core.errors import OutOfRange
from relay.core.program import RELAY
from relay.core.text import parse_number, shorten
from relay.surfaces.cli.command_list import make_group

Name = Annotated[str, typer.Argument(help="Its number in the list, or its id: #12.", metavar="<session>")]
Offset = Annotated[int, typer.Option(help="Skip this many.", min=0)]
__all__ = ["Name", "Offset", "find", "session", "version_id"]

session = make_group("Past sessions as a library: originals, versions, links, settings.")


def version_id(word: str) -> int:
    """Parses a version's id: 34 or #34. Raises `OutOfRange`."""
    number = parse_number(word.removeprefix("#"))
    if number is None:
        raise OutOfRange(
            f"“{shorten(word, 40)}” isn't a version's id, such as '#34'. `{RELAY} session versions` lists them."
        )
    return number
