"""`relay memory …`: what a person does with their own memory, in the shell. With --json, for programs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from relay.errors import SettingsError
from relay.settings import Settings, require
from relay.shell import ready, run_work

Json = dict[str, Any]
PAGE = 100


class Commands(TyperGroup):
    """What is no command here is looked up in memory, as /memory does in the chat."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names, or the look for all words."""
        if args and args[0] not in self.commands:
            return super().resolve_command(ctx, ["show", *args])
        return super().resolve_command(ctx, args)


memory = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    add_completion=False,
    help="What I know about you.",
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="JSON, for programs.")]
Words = Annotated[list[str] | None, typer.Argument()]


def _print(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def _verb(command: str, as_json: bool, after: Callable[[Any, Any], Awaitable[Json]] | None = None) -> None:
    """Does what a command of the chat does; with --json, what it said and how it stands then."""
    settings = ready(quiet=True)
    from relay import terminal

    async def work() -> None:
        if not as_json:
            await terminal.once(settings, command)
            return
        said = await terminal.heard(settings, command)
        _print({"said": said, **(await _read(settings, after) if after else {})})

    run_work(work())


async def _read(settings: Settings, read: Callable[[Any, Any], Awaitable[Json]]) -> Json:
    """Reads something of the owner's memory. `read` gets the store and the space."""
    from relay.app import opened
    from relay.memory.people import People
    from relay.models import Space

    async with opened(settings) as relay:
        people = People(settings.admins)
        await people.refresh(relay.store)
        return await read(relay.store, Space("private", owner_id=min(people.admins, default=1)))


def _show(command: str, as_json: bool, read: Callable[[Any, Any], Awaitable[Json]]) -> None:
    """Shows something as the chat does, or as JSON without asking the chat."""
    if not as_json:
        _verb(command, False)
        return
    settings = ready(quiet=True)

    async def work() -> None:
        _print(await _read(settings, read))

    run_work(work())


async def _controls(store: Any, space: Any) -> Json:
    return dict(await store.controls(space, 0, 0))


def _changes(waiting: bool) -> Callable[[Any, Any], Awaitable[Json]]:
    async def read(store: Any, space: Any) -> Json:
        return dict(await store.history(space, waiting, 0, PAGE, space.owner_id, True))

    return read


def _listed(words: str) -> Callable[[Any, Any], Awaitable[Json]]:
    async def read(store: Any, space: Any) -> Json:
        number = words.removeprefix("#")
        if number.isdecimal():
            row = await store.opened(int(number), space.owner_id, True)
            source = await store.source(int(number)) if row and row["space"] == space.as_json() else None
            return {"memory": row, "source": source} if source is not None else {"memory": None, "source": None}
        page: Json = await store.memories(space, 0, PAGE, {"words": words} if words else {})
        while len(page["memories"]) < page["matching"]:
            more = await store.memories(space, len(page["memories"]), PAGE, {"words": words} if words else {})
            page["memories"] += more["memories"]
            if not more["memories"]:
                break
        return page

    return read


async def _why(store: Any, space: Any) -> Json:
    turn = await store.answered_turn(0, 0, 0, 0, space)
    return {"why": await store.why(turn, space.owner_id) if turn else None}


@memory.callback()
def everything(context: typer.Context, as_json: AsJson = False) -> None:
    """What I know about you; a word or a number after it looks for that."""
    if context.invoked_subcommand is None:
        _show("/memory", as_json, _listed(""))


@memory.command()
def show(words: Words = None, as_json: AsJson = False) -> None:
    """List what is known, or what has some words, or open one memory by its number."""
    text = " ".join(words or [])
    _show(f"/memory {text}".strip(), as_json, _listed(text))


@memory.command()
def changes(as_json: AsJson = False) -> None:
    """List what changed, newest first; each can be undone there."""
    _show("/memory changes", as_json, _changes(False))


@memory.command()
def waiting(as_json: AsJson = False) -> None:
    """List what waits to be kept or discarded."""
    _show("/memory waiting", as_json, _changes(True))


@memory.command()
def why(as_json: AsJson = False) -> None:
    """Show what the last answer's prompt took of memory, and what it left out."""
    _show("/why", as_json, _why)


@memory.command()
def status(as_json: AsJson = False) -> None:
    """Show whether memory is on, and what waits."""
    _show("/memory controls", as_json, _controls)


@memory.command("on")
def switch_on(as_json: AsJson = False) -> None:
    """Recall and learn again."""
    _verb("/memory on", as_json, _controls)


@memory.command("off")
def switch_off(as_json: AsJson = False) -> None:
    """Recall nothing and learn nothing."""
    _verb("/memory off", as_json, _controls)


@memory.command()
def pause(
    until: Annotated[list[str], typer.Argument(help="2h, 3d, or until 2026-12-24.")], as_json: AsJson = False
) -> None:
    """Recall nothing and learn nothing for a while."""
    _verb(f"/memory pause {' '.join(until)}", as_json, _controls)


@memory.command()
def resume(as_json: AsJson = False) -> None:
    """End a pause."""
    _verb("/memory resume", as_json, _controls)


@memory.command()
def forget(words: list[str], as_json: AsJson = False) -> None:
    """Forget a memory by its number or words; job* shows what fits first."""
    _verb(f"/forget {' '.join(words)}", as_json, _changes(False))


def _decide(change: int, decision: str, as_json: bool) -> None:
    settings = ready(quiet=True)

    async def decide(store: Any, space: Any) -> Json:
        where = await store.changed_in(change_id=change)
        if where is None or where["space"] != space.as_json():
            raise SettingsError(
                f"There is no change {change} of your memory. `relay memory changes --json` lists them."
            )
        return {"changes": await store.decide_change(change, space.owner_id, True, decision)}

    async def work() -> None:
        done = await _read(settings, decide)
        if as_json:
            _print(done)
            return
        from relay.verbs.changes import change_line

        print("\n".join(change_line(one) for one in done["changes"] or []))

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

    async def forget_all(store: Any, space: Any) -> Json:
        known = (await store.controls(space, 0, 0))["memories"]
        if number != known:
            raise SettingsError(f"There are {known} memories. To forget them all: relay memory reset --yes {known}")
        while await store.reset_memory(space, space.owner_id):
            pass
        return {"forgotten": known}

    async def work() -> None:
        done = await _read(settings, forget_all)
        if as_json:
            _print(done)
        else:
            print(f"Forgot {done['forgotten']}; `relay memory changes` brings each back.")

    run_work(work())


@memory.command()
def erase(
    words: list[str],
    yes: Annotated[bool, typer.Option("--yes", help="Erase what is found; without it, it is only shown.")] = False,
    purge: Annotated[bool, typer.Option("--purge-backups", help="Replace all backups by a fresh one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take away for good what has some words, or a memory by #number: with its messages, answers and history."""
    settings = ready(quiet=True)
    from relay.erase_command import erase as erasing

    run_work(erasing(settings, " ".join(words), yes, purge, as_json))


@memory.command()
def index(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make all of it anew; goes on after a break.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only say how it stands, as JSON.")] = False,
) -> None:
    """Bring what finds memories up to date, also while the bot runs."""
    settings = ready(quiet=True)
    from relay import index as indexing

    async def work() -> None:
        if status:
            _print(await indexing.status(settings))
        else:
            await indexing.index(settings, rebuild)

    run_work(work())


@memory.command()
def rederive(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference, apply nothing.")] = False,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only what was derived from that day on.")
    ] = None,
    what: Annotated[str, typer.Option(help="What is derived again: summaries, memories or all.")] = "all",
    user: Annotated[int | None, typer.Option(help="Whose memory (otherwise the admin's): a Telegram user id.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Derive again what an older version made of a record; shows the difference first, goes on after a break."""
    settings = ready(quiet=True)
    require(settings, "ANTHROPIC_API_KEY")
    from relay import rederiving

    wish = rederiving.Wish(what, since, user, dry_run, yes, as_json)
    run_work(rederiving.rederive(settings, wish))
