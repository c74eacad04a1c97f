"""Begins and ends conversations, lists what people can do in them, and opens the web app from them."""

from __future__ import annotations

from dataclasses import replace

from relay.commands.context import CommandContext
from relay.commands.registry import COMMANDS, command, list_commands
from relay.core.errors import CommandRefused, NotAllowed
from relay.core.frozen import frozen
from relay.core.limits import TITLE_LENGTH
from relay.core.program import RELAY
from relay.core.text import shorten
from relay.memory.rows.sessions import SessionEnd

NO_ADDRESS = (
    "My web app has no public address yet, which Telegram needs: set RELAY_WEB_URL. deploy/README.md says how to get "
    f"one. In a browser on my machine it works already: {RELAY} web prints a link."
)
NOT_YET = "My admins haven't set up my web app for Telegram yet. /memory shows what I know about you."
NOT_ENDED = "This conversation is off the record. Only the person who started that, or an admin, can end it."
IN_A_GROUP = ("memory", "search", "new", "stop")
"""The commands that /help lists in a group, where thirty lines would be too many."""


@frozen
class Greeting:
    """The person who is greeted, and how Relay behaves in the chat."""

    name: str
    alone: bool
    """The person's own memory is used: it is a private chat, or a group with nobody else."""
    answers: str | None
    """Which messages are answered in a group: all, addressed or off; None: not set."""


@frozen
class ListedCommand:
    """A command in /help."""

    name: str
    help: str


@frozen
class HelpSection:
    """Commands under a title; untitled in a group."""

    title: str
    commands: tuple[ListedCommand, ...]


@frozen
class NewSession:
    """A new session, and how the previous one ended."""

    title: str
    ended: SessionEnd


@frozen
class Stopped:
    """Whether an answer was in progress, which is now stopped."""

    running: bool


@command("start", help="say hello", surfaces=("chat",), places=("private",))
async def start(ctx: CommandContext) -> Greeting:
    """Returns the contents of a greeting."""
    if ctx.private:
        return Greeting(ctx.name, True, None)
    answers = (await ctx.store.place(ctx.chat_id, ctx.topic_id)).answers
    return Greeting(ctx.name, ctx.space.kind == "private", answers)


@command("help", help="what I can do", surfaces=("chat",))
async def list_help(ctx: CommandContext) -> list[HelpSection]:
    """Returns the commands that this person can use here."""
    if ctx.private:
        sections = list_commands("private", ctx.admin)
    else:
        group = list_commands("group", ctx.admin).get("In this group", [])
        sections = {"": [*(COMMANDS[name] for name in IN_A_GROUP), *group]}
    return [
        HelpSection(title, tuple(ListedCommand(one.name, one.help) for one in listed))
        for title, listed in sections.items()
    ]


@command("new", usage="[title | with <name>]", help="start a new conversation; what I know stays")
async def new(ctx: CommandContext, title: str = "") -> NewSession:
    """Ends this thread's session and begins the next one. If it is off the record, only an admin or the person who
    began it may end it."""
    await ctx.require_sight()
    title = shorten(title, TITLE_LENGTH)
    erased = await end_private(ctx)
    ended = await ctx.store.new_session(ctx.thread, title)
    return NewSession(title, replace(ended, private=ended.private or erased))


async def end_private(ctx: CommandContext) -> bool:
    """Ends an off-the-record session that this person began but can't end as its owner or an admin. Returns whether it
    was erased. Raises `NotAllowed` if they didn't begin it."""
    if ctx.admin if ctx.space.kind == "group" else ctx.space.owner_id == ctx.user_id:
        return False
    ended = await ctx.store.private(ctx.thread, False, ctx.user_id, may=False)
    if ended.refused:
        raise NotAllowed(NOT_ENDED)
    return ended.was


@command("stop", help="stop the answer I'm writing", surfaces=("chat",))
async def stop(ctx: CommandContext) -> Stopped:
    """Stops the answer in progress here."""
    return Stopped(await ctx.stop())


@command("two", help="answer your last message twice, for you to choose (or reply to another)", surfaces=("chat",))
async def two(ctx: CommandContext) -> None:
    """Declares the command for the lists: two answers are a turn, which the worker runs."""
    raise CommandRefused("Two answers are a turn of their own.")


@command(
    "retry", usage="[big|small|model]", help="answer your last message again (or reply to another)", surfaces=("chat",)
)
async def retry(ctx: CommandContext) -> None:
    """Declares the command for the lists: a retry is a turn, which the worker runs."""
    raise CommandRefused("A retry is a turn of its own.")


@frozen
class WebApp:
    """The address of the web app."""

    url: str


@command("browse", help="open my web app: memories, sessions, usage", surfaces=("chat",))
async def browse(ctx: CommandContext) -> WebApp:
    """Returns the app's address. Raises `CommandRefused` if it has none that Telegram opens."""
    url = ctx.services.installation.web_url
    if not url:
        raise CommandRefused(NO_ADDRESS, NOT_YET)
    return WebApp(url)
