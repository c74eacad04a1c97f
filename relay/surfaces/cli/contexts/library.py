"""`relay session list`, `show`, `original`, `register`, `link`, `suggest`, `settings` and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.core.limits import COMPOSED_BUDGET
from relay.core.text import parse_number, pluralize
from relay.surfaces.cli.contexts.session import AsJson, Chat, Name, Offset, Topic, Where, find, run, session
from relay.surfaces.cli.contexts.versions import require_yes
from relay.surfaces.cli.memory.group import PAGE

Budget = Annotated[str, typer.Option(help="Tokens for all of them together: 16000, 8.5k.")]

if TYPE_CHECKING:
    from relay.memory.contexts.space_settings import ContextSettings
    from relay.memory.rows.contexts.library import OriginalPage, StorageStatistics, Suggestion
    from relay.memory.rows.sessions import Session, SessionPage
    from relay.surfaces.chat.context import ChatContext


@session.command("list")
def list_(offset: Offset = 0, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """List the sessions of a conversation, newest first."""
    from relay.commands.history.sessions import sessions

    run(Where(chat, topic, as_json), lambda ctx: sessions(ctx, offset, PAGE), _listed)


@session.command()
def show(name: Name, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Show one session: its numbers, topics and summary."""
    run(Where(chat, topic, as_json), lambda ctx: find(ctx, name), _shown)


@session.command()
def original(name: Name, offset: Offset = 0, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Print a session's messages as they were said."""

    async def opened(ctx: ChatContext) -> OriginalPage:
        from relay.commands.contexts.library import open_original

        return await open_original(ctx, (await find(ctx, name)).id, offset, PAGE)

    run(Where(chat, topic, as_json), opened, _messages)


@session.command()
def register(name: Name, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Add a session to the library."""

    async def registered(ctx: ChatContext) -> Session:
        from relay.commands.contexts.library import register_session

        return await register_session(ctx, (await find(ctx, name)).id)

    run(Where(chat, topic, as_json), registered, _shown)


@session.command()
def unregister(
    name: Name,
    versions: Annotated[bool, typer.Option("--versions", help="Drop its versions, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Drop even those that a running conversation uses.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that its versions may be dropped.")] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Remove a session from the library. Its markers stay, and so do its versions."""

    async def taken_out(ctx: ChatContext) -> Session:
        from relay.commands.contexts.library import unregister_session
        from relay.commands.contexts.pruning import plan_pruning

        own = (await find(ctx, name)).id
        if versions:
            require_yes(ctx, await plan_pruning(ctx, own), yes)
        return await unregister_session(ctx, own, versions, force)

    run(Where(chat, topic, as_json), taken_out, _shown)


@session.command()
def topics(name: Name, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Print a session's topics, one per line."""
    run(
        Where(chat, topic, as_json),
        lambda ctx: find(ctx, name),
        lambda _, one: "\n".join(one.topics) or "It has no topics yet.",
        lambda one: {"session_id": one.id, "topics": one.topics},
    )


@session.command()
def link(
    name: Annotated[str, typer.Argument(help="Its id, as `relay session list --json` shows it: #12.")],
    reason: Annotated[str, typer.Option(help="Why. Shown beside it.")] = "",
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Link a session of another conversation to this one, within the same memory."""

    async def linked(ctx: ChatContext) -> Session:
        from relay.commands.contexts.library import link_session

        return await link_session(ctx, parse_number(name.removeprefix("#")) or 0, reason)

    run(Where(chat, topic, as_json), linked, _shown)


@session.command()
def unlink(name: Name, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Unlink a session from this conversation."""

    async def unlinked(ctx: ChatContext) -> int:
        from relay.commands.contexts.library import unlink_session

        one = await find(ctx, name)
        await unlink_session(ctx, one.id)
        return one.id

    run(Where(chat, topic, as_json), unlinked, lambda *_: "The link is gone.", lambda id: {"unlinked": id})


@session.command()
def suggest(
    words: list[str],
    budget: Budget = str(COMPOSED_BUDGET),
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Find past sessions that fit some words, best first."""

    async def suggested(ctx: ChatContext) -> list[Suggestion]:
        from relay.commands.contexts.draft import read_budget
        from relay.commands.contexts.suggestion import suggest as suggest_command

        return await suggest_command(ctx, " ".join(words), read_budget(budget) or 0)

    run(Where(chat, topic, as_json), suggested, _list_suggestions, searches=True)


@session.command()
def settings(
    key: Annotated[str, typer.Argument(help="Its path, or the end of it: maxCacheSize.")] = "",
    value: Annotated[str, typer.Argument()] = "",
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Show the settings of sessions, or change one. With --json, the whole document."""

    async def set_or_shown(ctx: ChatContext) -> ContextSettings:
        from relay.commands.contexts.space_settings import change_setting, show_settings

        found = await (change_setting(ctx, key, value) if value else show_settings(ctx))
        if key:
            found.path_of(key)  # refuses an unknown setting
        return found

    def lines(_: ChatContext, found: ContextSettings) -> str:
        shown = {found.path_of(key)} if key else found.values().keys()
        values = {path: str(value) for path, value in found.values().items() if path in shown}
        switches = {"True": "on", "False": "off"}
        return "\n".join(f"{path} = {switches.get(value, value)}" for path, value in values.items())

    run(Where(chat, topic, as_json), set_or_shown, lines, lambda found: found.as_json())


@session.command()
def stats(chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Show how much is stored, and what the settings would drop tonight."""
    from relay.commands.contexts.library import storage_statistics

    run(Where(chat, topic, as_json), storage_statistics, _describe_stored)


def _listed(ctx: ChatContext, page: SessionPage) -> str:
    found = [_line(ctx, one) for one in (*page.sessions, *page.linked)]
    return "\n".join([*found, f"{len(page.sessions)} of {page.total}"])


def _line(ctx: ChatContext, one: Session) -> str:
    from relay.surfaces.chat.contexts.sessions import plain_title
    from relay.surfaces.chat.times import day

    said = [one.ref, plain_title(one), day(one.began, ctx.zone)]
    said += [pluralize(one.messages, "message"), pluralize(one.tokens, "token")]
    said += [pluralize(one.markers, "marker")] if one.markers else []
    said += [pluralize(one.versions, "version")] if one.versions else []
    said += [f"linked: {one.linked}" if one.linked else "linked"] if one.linked is not None else []
    return " · ".join([*said, *(["[M]"] if one.registered else [])])


def _shown(ctx: ChatContext, one: Session) -> str:
    lines = [_line(ctx, one)]
    lines += [f"Topics: {', '.join(one.topics)}"] if one.topics else []
    lines += [" ".join(one.summary.split())] if one.summary else []
    return "\n".join(lines)


def _messages(ctx: ChatContext, page: OriginalPage) -> str:
    said = [f"{one.at.astimezone(ctx.zone):%Y-%m-%d %H:%M} {one.role}: {one.text}" for one in page.messages]
    return "\n\n".join([*said, f"{len(said)} of {page.total}"])


def _list_suggestions(_: ChatContext, found: list[Suggestion]) -> str:
    from relay.surfaces.chat.contexts.suggestion import suggestion_lines

    return suggestion_lines(found) or "No session fits."


def _describe_stored(_: ChatContext, found: StorageStatistics) -> str:
    lines = [f"{one.kind:<13}{one.rows:>9,}{_size(one.bytes):>14}" for one in found.stored]
    lines.append(f"The whole database: {_size(found.database)}. Counted {found.at:%Y-%m-%d %H:%M} UTC.")
    if found.freed.rows:
        gone = pluralize(found.freed.rows, "version")
        lines.append(f"Tonight's cleanup removes {gone}: {_size(found.freed.bytes)}.")
    return "\n".join(lines)


def _size(number: int) -> str:
    return f"{number / 1e6:,.1f} MB" if number >= 100_000 else f"{number / 1e3:,.1f} kB"
