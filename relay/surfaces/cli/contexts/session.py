"""The command group `relay session`: the library of past sessions in the shell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from relay.core.errors import CommandRefused, NotFound
from relay.core.frozen import frozen
from relay.core.program import RELAY
from relay.core.text import parse_number, shorten
from relay.surfaces.cli.command_list import Commands
from relay.surfaces.cli.output import AsJson, print_json
from relay.surfaces.cli.shell import ready, run_work

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from relay.memory.rows.sessions import Session
    from relay.surfaces.chat.context import ChatContext

Result = TypeVar("Result")
Chat = Annotated[int | None, typer.Option("--chat", help="The chat's id (by default, the terminal's).")]
Topic = Annotated[int, typer.Option("--topic", help="The id of a topic in that chat.")]
Name = Annotated[str, typer.Argument(help="Its number in the list, or its id: #12.", metavar="SESSION")]
Offset = Annotated[int, typer.Option(help="Skip this many.", min=0)]
__all__ = ["AsJson", "Chat", "Name", "Offset", "Topic", "Where", "find", "run", "session", "version_id"]

session = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    help="Past sessions as a library: originals, versions, links, settings.",
    rich_markup_mode=None,
)


@frozen
class Where:
    """The conversation that a command is about, and whether its result is printed as JSON."""

    chat: int | None
    topic: int
    as_json: bool


def run(
    where: Where,
    command: Callable[[ChatContext], Awaitable[Result]],
    lines: Callable[[ChatContext, Result], str],
    as_json: Callable[[Result], object] = lambda result: result,
    searches: bool = False,
) -> None:
    """Runs a command as the owner, about one conversation, and prints its result: as JSON, or rendered by `lines`.
    `searches`: it waits for the embedder."""
    settings = ready(quiet=True)

    async def work() -> None:
        async with _context(settings, where, searches) as ctx:
            result = await command(ctx)
            if where.as_json:
                print_json(as_json(result))
            else:
                print(lines(ctx, result))

    run_work(work(), where.as_json)


@asynccontextmanager
async def _context(settings: Any, where: Where, searches: bool) -> AsyncIterator[ChatContext]:
    from relay.core.models import Space
    from relay.surfaces.cli.terminal.once import SEARCHES, open_desk

    async with open_desk(settings, SEARCHES if searches else "session", False) as desk, desk.turn() as ctx:
        if where.chat is None:
            if where.topic:
                raise CommandRefused("A topic belongs to a chat. Name that, too: --chat <id> --topic <id>.")
            yield ctx
        else:
            group = where.chat < 0
            space = Space("group", chat_id=where.chat) if group else ctx.space
            own = where.chat == ctx.user_id and not where.topic
            if not own and not (await ctx.store.sessions(space, where.chat, where.topic, 0, 1)).total:
                topic = f", topic {where.topic}" if where.topic else ""
                raise NotFound(f"Nothing was ever said in the chat {where.chat}{topic}.")
            yield replace(
                ctx, space=space, chat_id=where.chat, topic_id=where.topic, private=not group, sees=_see_everything
            )


async def _see_everything(_: object) -> bool:
    """Lets the person at the shell see everything, since they have the database."""
    return True


async def find(ctx: ChatContext, name: str) -> Session:
    """Returns the session that a word names."""
    from relay.commands.history.sessions import session_named

    return await session_named(ctx, name)


def version_id(word: str) -> int:
    """Parses a version's id: 34 or #34. Raises `CommandRefused`."""
    number = parse_number(word.removeprefix("#"))
    if number is None:
        raise CommandRefused(
            f"“{shorten(word, 40)}” isn't a version's id, such as '#34'. `{RELAY} session versions` lists them."
        )
    return number
