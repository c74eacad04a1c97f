"""`relay session list`, `show`, `original`, `register`, `link`, `suggest`, `settings` and their like."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from relay.commands.contexts import library as commands
from relay.commands.contexts.draft import read_budget
from relay.commands.contexts.pruning import plan_pruning
from relay.commands.contexts.space_settings import change_setting, show_settings
from relay.commands.history.sessions import say_elsewhere, sessions
from relay.core.limits import COMPOSED_BUDGET
from relay.core.text import parse_number, pluralize
from relay.memory.rows.contexts.library import OriginalPage, StorageStatistics, Suggestion
from relay.memory.rows.sessions import Session, SessionPage
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.sessions import plain_title
from relay.surfaces.chat.contexts.suggestion import suggestion_lines
from relay.surfaces.chat.times import day
from relay.surfaces.cli.contexts.session import Name, Offset, find, session
from relay.surfaces.cli.contexts.versions import require_yes
from relay.surfaces.cli.owner import PAGE, Shown, owner_command

Budget = Annotated[str, typer.Option(help="Tokens for all of them together: 16000, 8.5k.")]


def _list(ctx: ChatContext, page: SessionPage) -> str:
    if not page.total and not page.linked:
        return "There are no sessions here yet."
    found = [_line(ctx, one) for one in (*page.sessions, *page.linked)]
    return "\n".join([*found, f"{len(page.sessions)} of {page.total}"])


def _line(ctx: ChatContext, one: Session) -> str:
    said = [one.ref, plain_title(one), day(one.began, ctx.zone)]
    said += [pluralize(one.messages, "message"), pluralize(one.tokens, "token")]
    said += [pluralize(one.markers, "marker")] if one.markers else []
    said += [pluralize(one.versions, "version")] if one.versions else []
    said += [f"linked: {one.linked}" if one.linked else "linked"] if one.linked is not None else []
    return " · ".join([*said, *(["[M]"] if one.registered else [])])


def _describe(ctx: ChatContext, one: Session) -> str:
    lines = [_line(ctx, one)]
    lines += [f"Topics: {', '.join(one.topics)}"] if one.topics else []
    lines += [" ".join(one.summary.split())] if one.summary else []
    return "\n".join(lines)


@session.command("list")
@owner_command(anywhere=True)
async def list_(ctx: ChatContext, offset: Offset = 0) -> Shown:
    """List the sessions of a conversation, newest first."""
    page = await sessions(ctx, offset, PAGE)
    elsewhere = "" if page.total or page.linked else await say_elsewhere(ctx)
    return Shown(page, f"{_list(ctx, page)}\n{elsewhere}".strip())


@session.command()
@owner_command(_describe, anywhere=True)
async def show(ctx: ChatContext, name: Name) -> Session:
    """Show one session: its numbers, topics and summary."""
    return await find(ctx, name)


def _list_messages(ctx: ChatContext, page: OriginalPage) -> str:
    said = [f"{one.at.astimezone(ctx.zone):%Y-%m-%d %H:%M} {one.role}: {one.text}" for one in page.messages]
    return "\n\n".join([*said, f"{len(said)} of {page.total}"])


@session.command()
@owner_command(_list_messages, anywhere=True)
async def original(ctx: ChatContext, name: Name, offset: Offset = 0) -> OriginalPage:
    """Print a session's messages as they were said."""
    return await commands.open_original(ctx, (await find(ctx, name)).id, offset, PAGE)


@session.command()
@owner_command(_describe, anywhere=True)
async def register(ctx: ChatContext, name: Name) -> Session:
    """Add a session to the library."""
    return await commands.register_session(ctx, (await find(ctx, name)).id)


@session.command()
@owner_command(_describe, anywhere=True)
async def unregister(
    ctx: ChatContext,
    name: Name,
    versions: Annotated[bool, typer.Option("--versions", help="Drop its versions, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Drop even those that a running conversation uses.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that its versions may be dropped.")] = False,
) -> Session:
    """Remove a session from the library. Its markers stay, and so do its versions."""
    one = await find(ctx, name)
    if versions and one.registered:
        require_yes(ctx, await plan_pruning(ctx, one.id), yes)
    return await commands.unregister_session(ctx, one.id, versions, force)


@session.command()
@owner_command(lambda _, found: "\n".join(found["topics"]) or "It has no topics yet.", anywhere=True)
async def topics(ctx: ChatContext, name: Name) -> dict[str, Any]:
    """Print a session's topics, one per line."""
    one = await find(ctx, name)
    return {"session_id": one.id, "topics": one.topics}


@session.command()
@owner_command(_describe, anywhere=True)
async def link(
    ctx: ChatContext,
    name: Annotated[str, typer.Argument(help="Its id, as `relay session list --json` shows it: #12.")],
    reason: Annotated[str, typer.Option(help="Why. Shown beside it.")] = "",
) -> Session:
    """Link a session of another conversation to this one, within the same memory."""
    return await commands.link_session(ctx, parse_number(name.removeprefix("#")) or 0, reason)


@session.command()
@owner_command(lambda *_: "The link is gone.", anywhere=True)
async def unlink(ctx: ChatContext, name: Name) -> dict[str, int]:
    """Unlink a session from this conversation."""
    one = await find(ctx, name)
    await commands.unlink_session(ctx, one.id)
    return {"unlinked": one.id}


@session.command()
@owner_command(lambda _, found: suggestion_lines(found) or "No session fits.", anywhere=True, searches=True)
async def suggest(ctx: ChatContext, words: list[str], budget: Budget = str(COMPOSED_BUDGET)) -> list[Suggestion]:
    """Find past sessions that fit some words, best first."""
    return await commands.suggest(ctx, " ".join(words), read_budget(budget) or 0)


@session.command()
@owner_command(anywhere=True)
async def settings(
    ctx: ChatContext,
    key: Annotated[str, typer.Argument(help="Its path, or the end of it: maxCacheSize.")] = "",
    value: Annotated[str, typer.Argument()] = "",
) -> Shown:
    """Show the settings of sessions, or change one. With --json, the whole document."""
    found = await (change_setting(ctx, key, value) if value else show_settings(ctx))
    shown = {found.path_of(key)} if key else found.values().keys()  # refuses an unknown setting
    values = {path: str(value) for path, value in found.values().items() if path in shown}
    switches = {"True": "on", "False": "off"}
    return Shown(found.as_json(), "\n".join(f"{path} = {switches.get(said, said)}" for path, said in values.items()))


def _describe_stored(_: ChatContext, found: StorageStatistics) -> str:
    lines = [f"{one.kind:<13}{one.rows:>9,}{_size(one.bytes):>14}" for one in found.stored]
    lines.append(f"The whole database: {_size(found.database)}. Counted {found.at:%Y-%m-%d %H:%M} UTC.")
    if found.freed.rows:
        gone = pluralize(found.freed.rows, "version")
        lines.append(f"Tonight's cleanup removes {gone}: {_size(found.freed.bytes)}.")
    return "\n".join(lines)


def _size(number: int) -> str:
    return f"{number / 1e6:,.1f} MB" if number >= 100_000 else f"{number / 1e3:,.1f} kB"


@session.command()
@owner_command(_describe_stored, anywhere=True)
async def stats(ctx: ChatContext) -> StorageStatistics:
    """Show how much is stored, and what the settings would drop tonight."""
    return await commands.storage_statistics(ctx)
