"""Memory on, off, at rest; what this terminal reads of it and teaches it; talking off the record."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.surfaces.cli.memory.door import AsJson, Words, controls, memory, verb


@memory.command("on")
def switch_on(as_json: AsJson = False) -> None:
    """Recall and learn again."""
    verb("/memory on", as_json, controls)


@memory.command("off")
def switch_off(as_json: AsJson = False) -> None:
    """Recall nothing and learn nothing."""
    verb("/memory off", as_json, controls)


@memory.command()
def pause(
    until: Annotated[list[str], typer.Argument(help="2h, 3d, or until 2026-12-24.")], as_json: AsJson = False
) -> None:
    """Recall nothing and learn nothing for a while."""
    verb(f"/memory pause {' '.join(until)}", as_json, controls)


@memory.command()
def resume(as_json: AsJson = False) -> None:
    """End a pause."""
    verb("/memory resume", as_json, controls)


@memory.command()
def here(how: Words = None, as_json: AsJson = False) -> None:
    """ignore, use, quiet or teach: what conversations in the terminal read of memory and teach it."""
    verb(f"/memory here {' '.join(how or [])}".strip(), as_json, controls)


@memory.command()
def private(how: Words = None, as_json: AsJson = False) -> None:
    """Talk off the record in the terminal from now on; off: end and erase it."""
    verb(f"/private {' '.join(how or [])}".strip(), as_json, controls)
