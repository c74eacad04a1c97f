"""Commands that erase for good, and that maintain the search index and derived data."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated

import typer

from relay.core.settings import require
from relay.surfaces.cli.memory.group import memory
from relay.surfaces.cli.output import AsJson, print_json
from relay.surfaces.cli.shell import ready, run_work


@memory.command()
def erase(
    words: list[str],
    yes: Annotated[bool, typer.Option("--yes", help="Erase what was found. Otherwise, only show it.")] = False,
    purge: Annotated[bool, typer.Option("--purge-backups", help="Replace all backups with a new one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Permanently erase everything that contains these words, or a memory by #number, with its messages and history."""
    settings = ready(quiet=True)
    from relay.surfaces.cli.memory.erase import erase as erasing

    async def work() -> None:
        sys.exit(0 if await erasing(settings, " ".join(words), yes, purge, as_json) else 1)

    run_work(work(), as_json)


@memory.command()
def index(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make all vectors again. Continues after an interruption.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Only print the status, as JSON.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the search index up to date. The bot can keep running."""
    settings = ready(quiet=True)
    from relay.surfaces.cli.memory import index as indexing

    async def work() -> None:
        if status:
            print_json(await indexing.status(settings))
        else:
            await indexing.index(settings, rebuild, as_json)

    run_work(work(), as_json or status)


@memory.command()
def rederive(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference without applying it.")] = False,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only what was derived since that day.")
    ] = None,
    what: Annotated[str, typer.Option(help="What to derive again: summaries, memories, preferences or all.")] = "all",
    user: Annotated[int | None, typer.Option(help="Whose memory: a Telegram user id (otherwise the admin's).")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Apply without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Derive again what an older version derived. Shows the difference first; continues after an interruption."""
    settings = ready(quiet=True)
    require(settings, "ANTHROPIC_API_KEY")
    from relay.surfaces.cli.memory import rederive as rederiving

    wish = rederiving.RederiveOptions(what, since, user, dry_run, yes, as_json)
    run_work(rederiving.rederive(settings, wish), as_json)
