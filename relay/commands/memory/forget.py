"""Forgets by number or words, or several memories by a pattern, which is previewed first."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS
from relay.commands.registry import command
from relay.core.errors import NotAllowed, WrongArgument, require_found
from relay.core.limits import FORGET_LETTERS
from relay.core.text import plain_digits
from relay.memory.intents import is_long_enough
from relay.memory.rows.changes import Changed
from relay.memory.rows.memories import ForgetPreview, ForgetProgress

EVERYTHING = frozenset({
    "all", "everything", "all of it", "all of them", "all memories", "me", "about me", "all about me",
    "everything about me", "everything you know", "everything you know about me", "alle", "alles", "mich", "über mich",
    "alles über mich", "alles, was du weisst", "tout", "tutto", "всё", "все",
})  # fmt: skip
"""Words that mean all memories, but that a memory may also contain."""


@command("forget", usage="[--erase] <number, words or job*>", help="forget a fact; --erase: for good")
async def forget(ctx: CommandContext, which: str) -> Changed:
    """Forgets the memory that a number or words refer to. If several match, each waits for a decision."""
    await ctx.require_sight()
    words = " ".join(which.split())
    if not words:
        raise WrongArgument(
            "What should I forget? Write its number from /memory (/forget #12), or some words from it.",
        )
    if (bare := words.strip(".!")).casefold() in EVERYTHING:
        raise WrongArgument(
            f"Do you mean everything I know? /memory reset forgets it all, but asks you first. To look for the word "
            f"“{bare}” in what I know, write /forget *{bare}*"
        )
    if not words.lstrip("#").isdecimal() and not is_long_enough(words):
        raise WrongArgument(
            f"“{words}” is too short: it could mean anything. Write at least {FORGET_LETTERS} letters, or the number "
            "from /memory (/forget #12)."
        )
    if words.lstrip("#").isdecimal():
        words = plain_digits(words)
    action = {"action": "forget", "content": words[:500]} | ({"admin": True} if ctx.admin else {})
    return await ctx.store.change_memory(ctx.turn, ctx.space, [action])


async def preview_pattern(ctx: CommandContext, pattern: str) -> ForgetPreview:
    """Previews what a pattern (`job*`) would forget, for `forget_shown` with this turn."""
    await ctx.require_sight()
    return await ctx.store.forget_preview(ctx.turn, ctx.space, pattern[:200], ctx.user_id, ctx.admin)


async def forget_shown(ctx: CommandContext, turn_id: int, undo: bool = False) -> ForgetProgress:
    """Forgets what a turn previewed for this person, or undoes that."""
    while True:
        done = require_found(await ctx.store.forget_shown(turn_id, ctx.user_id, ctx.admin, undo), NotAllowed(NOT_YOURS))
        if not done.left:
            return done


async def check_shown(ctx: CommandContext, turn_id: int) -> None:
    """Raises `NotAllowed` unless a turn showed this person the preview."""
    if not await ctx.store.was_shown(turn_id, ctx.user_id):
        raise NotAllowed(NOT_YOURS)
