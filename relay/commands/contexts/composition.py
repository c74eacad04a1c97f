"""Compositions: versions of several sessions together within a budget, with which a new conversation begins."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal, TypeVar

from relay.commands.context import CommandContext
from relay.commands.memory.access import check_switch, require_switch
from relay.commands.registry import command, operation
from relay.commands.session.session import NewSession, end_private
from relay.core.errors import CommandRefused, Conflict, InUse, NotFound, OutOfRange, require_found
from relay.core.frozen import frozen
from relay.core.limits import COMPOSED_PARTS, COMPOSITION_NAME_LENGTH, LEAST_BUDGET, MAX_OFFSET, MOST_BUDGET
from relay.core.models import File
from relay.core.text import shorten
from relay.memory.contexts.composed import as_lines, as_markdown, pack_composition
from relay.memory.contexts.settings import read_settings
from relay.memory.rows.contexts.composition import (
    ComposeRequest,
    Composition,
    CompositionPage,
    CompositionPlan,
    DroppedComposition,
    PartAsked,
    Refusal,
)
from relay.memory.rows.sessions import SessionEnd

Done = TypeVar("Done", Composition, CompositionPlan, SessionEnd)
NAME = re.compile(rf"\w[\w .-]{{0,{COMPOSITION_NAME_LENGTH - 1}}}")
QUOTES = "\"'“”„‟‘’‚«»‹› "
"""Characters that people may write around a name. They are removed from its ends."""
HOW_NAMED = (
    f"A name has up to {COMPOSITION_NAME_LENGTH} letters, digits, spaces, dots, dashes and underscores, and begins "
    "with a letter or digit."
)
NOT_READY = "“{what}” isn't ready yet: its sessions are still being compressed. /compose list shows when it is."
REFUSALS = {
    "name": "There's already a composition called “{what}” here. Choose another name, or drop that one first.",
    "gone": "That composition is gone. /compose list shows what there is.",
    "making": NOT_READY,
    "over": "“{what}” is {over:,} tokens over its budget. Raise the budget or change a part, then you can use it.",
    "failed": "“{what}” couldn't be made. Open it with /compose list and make it again.",
    "off_record": "This conversation is off the record, so I can't compose here. /private off ends that.",
    "no_session": "There's no session {what} here. /sessions lists them.",
    "empty": "There's nothing in “{what}” to use yet.",
    "twice": "“{what}” is named twice. Name each session once.",
    "no_version": "“{session}” has no version called {what}.",
    "nothing_left": "The parts you chose use the whole budget. Raise the budget, or leave a part out.",
}
ABSENT = ("gone", "no_session", "no_version")
"""Refusals because something doesn't exist."""
UNFIT = ("empty", "twice", "nothing_left")
"""Refusals because a request can't be met in this form."""


@frozen
class UsedComposition:
    """A conversation that began with a composition."""

    composition: Composition
    new: NewSession


@command(
    "compose", usage="[name | list | show <name> | drop <name>]", help="put past sessions together to begin a new one"
)
async def space_compositions(ctx: CommandContext, offset: int = 0, limit: int = 100) -> CompositionPage:
    """Returns a page of this space's compositions, this conversation's first."""
    await ctx.require_sight()
    return await ctx.store.compositions(ctx.thread, min(offset, MAX_OFFSET), limit)


@operation("chat", "cli", "http")
async def compose(ctx: CommandContext, request: ComposeRequest) -> Composition:
    """Composes sessions under a name and returns the composition; missing versions are made first. Raises
    `CommandRefused`, without doing anything, if the request can't be composed."""
    await require_switch(ctx)
    where = {"chat_id": ctx.chat_id, "topic_id": ctx.topic_id, "bot_id": ctx.bot_id, "zone": str(ctx.zone)}
    return require_done(await ctx.store.compose(ctx.space, ctx.user_id, checked(request).as_json() | where))


@operation("http")
async def plan_composition(ctx: CommandContext, request: ComposeRequest) -> CompositionPlan:
    """Returns what composing would do."""
    await ctx.require_sight()
    return require_done(await ctx.store.plan_composition(ctx.space, checked(request)))


async def compose_again(ctx: CommandContext, composition_id: int) -> Composition:
    """Makes a composition again from the same request, with what was said since."""
    one = await open_composition(ctx, composition_id)
    return await compose(ctx, request_of(one))


def request_of(one: Composition) -> ComposeRequest:
    """Returns the request that would make a composition again."""
    parts = tuple((part.session_id, part.asked) for part in one.parts)
    return ComposeRequest(one.name, parts, one.budget, one.strategy, one.format, in_order=True, replaces=one.id)


def checked(request: ComposeRequest) -> ComposeRequest:
    """Returns a request with complete settings. Raises `CommandRefused` for an invalid name, budget or part."""
    name = check_name(request.name)
    check_budget(request.budget)
    if not request.parts:
        raise OutOfRange("Choose at least one session.")
    if len(request.parts) > COMPOSED_PARTS:
        raise OutOfRange(f"That's more than {COMPOSED_PARTS} sessions. Leave some out.")
    parts = tuple((session_id, complete(asked)) for session_id, asked in request.parts)
    return replace(request, name=name, parts=parts)


def check_name(name: str) -> str:
    """Returns a name with single spaces. Raises `CommandRefused` if it is invalid."""
    name = " ".join(name.split())
    if not NAME.fullmatch(name):
        raise OutOfRange(HOW_NAMED)
    return name


def check_budget(budget: int) -> None:
    """Raises `CommandRefused` unless a budget is in range."""
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise OutOfRange(f"The budget is a number of tokens from {LEAST_BUDGET:,} to {MOST_BUDGET:,}.")


def complete(asked: PartAsked) -> PartAsked:
    """Returns a part's request with complete settings."""
    if asked.allocation is not None and not 1 <= asked.allocation <= MOST_BUDGET:
        raise OutOfRange(f"A part takes 1 to {MOST_BUDGET:,} tokens.")
    if asked.recompress is None:
        return asked
    return replace(asked, recompress=read_settings(asked.recompress).as_json())


def require_done(found: Done | Refusal) -> Done:
    """Returns the result. Raises `CommandRefused` with the reason if it is a refusal."""
    if isinstance(found, Refusal):
        raise refused(found)
    return found


def refused(why: Refusal) -> CommandRefused:
    """Returns a refusal as an error with a sentence."""
    error = NotFound if why.refused in ABSENT else OutOfRange if why.refused in UNFIT else Conflict
    return error(REFUSALS[why.refused].format(what=why.what, session=why.session, over=why.over or 0))


@operation("chat", "http")
async def open_composition(ctx: CommandContext, composition_id: int, rows: bool = False) -> Composition:
    """Returns a composition of this space by its id."""
    await ctx.require_sight()
    found = await ctx.store.composition(ctx.space, {"id": composition_id}, rows)
    return require_found(found, NotFound(REFUSALS["gone"]))


async def composition_named(ctx: CommandContext, name: str, rows: bool = False) -> Composition:
    """Returns a composition by its name: this conversation's, or else another one of the same space."""
    await ctx.require_sight()
    which = {"name": " ".join(name.split()).strip(QUOTES), "chat_id": ctx.chat_id, "topic_id": ctx.topic_id}
    found = await ctx.store.composition(ctx.space, which, rows)
    called = shorten(str(which["name"]), 60)
    return require_found(
        found, NotFound(f"I don't know a composition called “{called}”. /compose list shows what there is.")
    )


@operation("chat", "cli", "http")
async def use_composition(ctx: CommandContext, composition_id: int) -> UsedComposition:
    """Ends this thread's session and begins a new one with a composition. In a group everyone sees who does it. From
    outside of the group, only people who may switch its memory may do it."""
    one = await open_composition(ctx, composition_id)
    if ctx.private and ctx.space.kind == "group":
        check_switch(ctx, ctx.space)
    if one.status != "ready":
        raise refused(Refusal(one.status, one.name, over=one.over))
    erased = await end_private(ctx)
    ended = require_done(await ctx.store.use_composition(ctx.thread, one.id))
    return UsedComposition(one, NewSession("", replace(ended, private=ended.private or erased)))


def drop_asks(ctx: CommandContext, one: Composition) -> bool:
    """Tests whether to ask before a composition is dropped. Raises as `drop_composition` does if this person may not
    drop it."""
    check_switch(ctx, ctx.space)
    return one.confirm


@operation("chat", "cli", "http")
async def drop_composition(ctx: CommandContext, composition_id: int, force: bool = True) -> DroppedComposition:
    """Drops a composition. Running conversations that began with it keep it until they end. Without `force`, raises
    `InUse` if there are any."""
    one = await open_composition(ctx, composition_id)
    check_switch(ctx, ctx.space)
    if one.active and not force:
        raise InUse(f"A running conversation began with “{one.name}”.", [(one.id, one.name, True)])
    return require_found(await ctx.store.drop_composition(ctx.space, composition_id), NotFound(REFUSALS["gone"]))


@operation("http")
async def project_compositions(ctx: CommandContext, offset: int = 0, limit: int = 100) -> CompositionPage:
    """Returns a page of this conversation's compositions, newest first."""
    await ctx.require_sight()
    return await ctx.store.project_compositions(ctx.thread, min(offset, MAX_OFFSET), limit)


@operation("chat", "cli", "http")
async def export_composition(
    ctx: CommandContext, composition_id: int, format: Literal["zip", "md", "jsonl"] = "zip"
) -> File:
    """Returns a composition as a zip named after it, or one of the files in it."""
    one = await open_composition(ctx, composition_id, rows=True)
    if one.rows is None:
        raise refused(Refusal("making" if one.status == "making" else "failed", one.name))
    if format == "zip":
        return File(f"{one.name}.zip", pack_composition(one, ctx.zone))
    return File(f"composed.{format}", (as_markdown(one, ctx.zone) if format == "md" else as_lines(one)).encode())
