"""Marks passages to keep when old conversations are compressed, and changes their markers."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.memory.access import GONE, may_switch
from relay.commands.memory.remember import OFF_THE_RECORD
from relay.commands.registry import command, operation
from relay.core.errors import CommandRefused, NotAllowed, NotFound, OutOfRange, require_found
from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET
from relay.memory.rows.contexts.markers import Keepit, KeepitChange, KeepitPage, OpenedKeepit, Refusal

REFUSED: dict[Refusal, str] = {
    "private": OFF_THE_RECORD,
    "missing": "I can't find a message here that says that.",
    "absent": "The message doesn't say that. Quote the passage, or copy it exactly.",
    "other": "You can mark your own messages and my answers. Admins can mark everything.",
    "empty": "There's nothing to keep in that message.",
}
ERRORS: dict[Refusal, type[CommandRefused]] = {
    "missing": NotFound, "absent": OutOfRange, "other": NotAllowed, "empty": OutOfRange
}  # fmt: skip
REPLACED = "That answer was replaced. Reply to the one that you have now."
NOT_STORED = "I can't find that message in our conversation, so I can't keep it."
NOT_YOURS = "Someone else marked that. Only they and admins can change it."


@frozen
class Passage:
    """What to mark: a message of this chat, or else the newest that contains the text."""

    telegram_message_id: int | None = None
    message_id: int | None = None
    """The message's id in the store, if known."""
    session_id: int | None = None
    """Only a message of this session counts."""
    draft: int | None = None
    """The turn that remembers a passage until a weight is chosen."""
    text: str = ""
    """The passage; empty: the whole message."""
    quoted: bool = False
    """Telegram supplied the passage as a quote."""


@command(
    "keepit",
    usage="[weight] [passage]",
    help="keep a passage when old conversations are compressed (reply to it)",
    surfaces=("chat", "cli", "http"),
)
async def keepits(ctx: CommandContext, session_id: int | None = None, offset: int = 0, limit: int = 100) -> KeepitPage:
    """Returns a page of the markers of this conversation, or of one of its space's sessions, the most important
    first."""
    await ctx.require_sight()
    return await ctx.store.keepits(ctx.thread, session_id, min(offset, MAX_OFFSET), limit)


@operation("chat", "cli", "http")
async def keep_passage(
    ctx: CommandContext,
    passage: Passage,
    weight: Decimal | None,
    origin: Literal["command", "button", "http"] = "command",
) -> KeepitChange:
    """Marks a passage with a weight. None: only remembers it until a weight is chosen. Raises `CommandRefused` with the
    reason."""
    await ctx.require_sight()
    keep: dict[str, object] = {
        "bot_id": ctx.bot_id,
        "weight": None if weight is None else str(weight),
        "origin": origin if ctx.bot_id else "cli",
    }
    given = asdict(passage)
    draft = given.pop("draft")
    keep |= given if draft is None else {"draft": draft}
    may = may_switch(ctx, ctx.space)
    done = await ctx.store.keep_it(ctx.turn, ctx.thread, ctx.user_id, may, keep)
    if done.refused == "missing" and passage.telegram_message_id:
        raise NotFound(REPLACED if await _was_answer(ctx, passage.telegram_message_id) else NOT_STORED)
    if done.refused:
        raise ERRORS.get(done.refused, CommandRefused)(REFUSED[done.refused])
    return done


@operation("chat", "cli", "http")
async def open_keepit(ctx: CommandContext, keepit_id: int) -> OpenedKeepit:
    """Returns a marker of this space, and whether it would survive."""
    await ctx.require_sight()
    return require_found(await ctx.store.keepit(ctx.space, keepit_id), NotFound(GONE))


@operation("chat", "cli", "http")
async def weigh_keepit(ctx: CommandContext, keepit_id: int, weight: Decimal) -> KeepitChange:
    """Changes a marker's weight. Its message doesn't change."""
    await ctx.require_sight()
    may = may_switch(ctx, ctx.space)
    return _changed(await ctx.store.weigh_keepit(ctx.space, keepit_id, weight, ctx.user_id, may))


@operation("chat", "cli", "http")
async def remove_keepit(ctx: CommandContext, keepit_id: int, removed: bool = True) -> KeepitChange:
    """Removes a marker, or restores it."""
    await ctx.require_sight()
    may = may_switch(ctx, ctx.space)
    return _changed(await ctx.store.remove_keepit(ctx.space, keepit_id, removed, ctx.user_id, may))


async def undo_keepits(ctx: CommandContext, turn_id: int, removed: bool) -> int:
    """Removes the markers of this person's message in a turn, or restores them. Returns how many markers changed."""
    await ctx.require_sight()
    return await ctx.store.undo_keepits(turn_id, ctx.user_id, removed)


def require_marker(done: KeepitChange) -> Keepit:
    """Returns the marker that was changed. Raises `NotFound` if it is gone."""
    return require_found(done.keepit, NotFound(GONE))


async def _was_answer(ctx: CommandContext, telegram_message_id: int) -> bool:
    turn_id = await ctx.store.find_answered_turn(ctx.bot_id, ctx.thread, telegram_message_id)
    answer = await ctx.store.answer_said(turn_id) if turn_id else None
    return answer is not None and answer.space == ctx.space


def _changed(done: KeepitChange | None) -> KeepitChange:
    found = require_found(done, NotFound(GONE))
    if found.refused:
        raise NotAllowed(NOT_YOURS)
    return found
