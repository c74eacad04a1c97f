"""Keeping, forgetting, rewording, pinning, and taking it back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.surfaces.cli.memory.door import AsJson, memory, owned, printed, read_owned, verb
from relay.surfaces.cli.memory.look import changed
from relay.surfaces.cli.shell import ready, run_work

if TYPE_CHECKING:
    from relay.core.models import Space
    from relay.memory.calls.memory.facts import Action
    from relay.memory.rows.changes import Changed
    from relay.memory.store import Store


@memory.command()
def forget(
    words: list[str],
    yes: Annotated[
        bool, typer.Option("--yes", help="Forget all that fits job*; without it, it is only shown.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a memory by its number or words; job* shows what fits first."""
    text = " ".join(words)
    verb(f"/forget {text}", as_json, changed(False), sure=yes)


def _decide(change: int, decision: str, as_json: bool) -> None:
    settings = ready(quiet=True)

    async def decide(store: Store, space: Space) -> Changed:
        from relay.memory.rows.changes import Changed

        where = await store.changed_in(change_id=change)
        if where is None or where.space != space:
            raise SettingsError(
                f"There is no change {change} of your memory. `{RELAY} memory changes --json` lists them."
            )
        return Changed(tuple(await store.decide_change(change, space.owner_id or 0, True, decision) or ()))

    async def work() -> None:
        done = await read_owned(settings, decide)
        if as_json:
            printed(done)
            return
        from relay.surfaces.chat.changes import change_line

        print("\n".join(change_line(one) for one in done.changes))

    run_work(work())


@memory.command()
def keep(change: int, as_json: AsJson = False) -> None:
    """Keep what waits, by the change's number."""
    _decide(change, "keep", as_json)


@memory.command()
def discard(change: int, as_json: AsJson = False) -> None:
    """Discard what waits, by the change's number."""
    _decide(change, "discard", as_json)


@memory.command()
def undo(change: int, as_json: AsJson = False) -> None:
    """Undo a change, by its number."""
    _decide(change, "undo", as_json)


@memory.command()
def reset(
    number: Annotated[int, typer.Option("--yes", help="How many memories there are: that all of them may go.")] = -1,
    as_json: AsJson = False,
) -> None:
    """Forget everything; the number of memories has to be given."""
    settings = ready(quiet=True)

    async def forget_all(store: Store, space: Space) -> int:
        known = (await store.controls(space, 0, 0)).memories
        if number != known:
            raise SettingsError(f"There are {known} memories. To forget them all: {RELAY} memory reset --yes {known}")
        while await store.reset_memory(space, space.owner_id or 0):
            pass
        return known

    async def work() -> None:
        done = await read_owned(settings, forget_all)
        if as_json:
            printed({"forgotten": done})
        else:
            print(f"Forgot {done}; `{RELAY} memory changes` brings each back.")

    run_work(work())


def _act(number: int, as_json: bool, action: Action) -> None:
    """Does something to a memory by its number, and prints what changed."""
    settings = ready(quiet=True)

    async def act(store: Store, space: Space) -> Changed:
        row = await owned(store, space, number)
        return await store.change_directly(space, space.owner_id, [{**action, "memory_id": row.id}])

    async def work() -> None:
        done = await read_owned(settings, act)
        if as_json:
            printed(done)
            return
        from relay.surfaces.chat.changes import change_line, failure_line

        print("\n".join([change_line(one) for one in done.changes] + [failure_line(one) for one in done.failed]))
        if done.failed:
            sys.exit(1)

    run_work(work())


@memory.command()
def edit(number: int, text: list[str], as_json: AsJson = False) -> None:
    """Put another wording in place of a memory's."""
    from relay.memory.api import FACT_LENGTH

    wording = " ".join(" ".join(text).split())
    if not 0 < len(wording) <= FACT_LENGTH:
        raise typer.BadParameter(f"A memory has 1 to {FACT_LENGTH} characters.")
    _act(number, as_json, {"action": "edit", "content": wording})


@memory.command()
def pin(number: int, as_json: AsJson = False) -> None:
    """Let a memory stand first in every prompt."""
    _act(number, as_json, {"action": "pin"})


@memory.command()
def unpin(number: int, as_json: AsJson = False) -> None:
    """Take the pin out again."""
    _act(number, as_json, {"action": "unpin"})


@memory.command()
def restore(number: int, as_json: AsJson = False) -> None:
    """Bring a memory back that was put away or replaced."""
    _act(number, as_json, {"action": "restore"})
