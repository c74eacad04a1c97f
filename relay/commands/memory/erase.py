"""Permanent erasure: previewed first, then removed from the tables, the chats and the backups."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS
from relay.commands.registry import admins_only
from relay.core.errors import CommandRefused, NotAllowed, NotFound, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.core.limits import ERASE_LETTERS
from relay.core.text import join_names
from relay.memory.erasure import finish_erasure, remove_files
from relay.memory.intents import is_long_enough
from relay.memory.rows.upkeep.erasure import ErasePreview, ErasureStep

WORDS = 200
"""The longest text to search for, in characters."""
CHAT_SECONDS = 20.0
"""How many seconds to wait for the chats before reporting; the rest follows later."""
TOO_LATE = "That's already erased, was shown too long ago, or is not yours. Start again: /forget --erase"
TOO_SHORT = (
    "What should I erase for good? Write its number from /memory (/forget --erase #12), or words that appear "
    f"in all of it, at least {ERASE_LETTERS} letters."
)


@frozen
class ErasedMemoryNumber:
    """A memory to erase by its visible number, with the messages that it came from."""

    number: int


@frozen
class ErasedWords:
    """Words to erase: everything that contains all of them."""

    words: str


EraseQuery = ErasedMemoryNumber | ErasedWords


@frozen
class Erasing:
    """The outcome of an erasure."""

    step: ErasureStep | None
    """None: it has to wait, and will be finished in the background."""
    clears: bool = False
    """The database's files can be rewritten at once."""
    backups: bool = False
    """Backups may contain it."""
    remains: str | None = None
    """Which backups may contain it, as a sentence; None: unknown."""
    at_night: bool = False
    """The database's files will be rewritten tonight."""


async def preview_erasure(ctx: CommandContext, what: EraseQuery) -> ErasePreview | None:
    """Previews an erasure; None: nothing matches that this person may erase, in any spelling. Raises `NotFound` if only
    other spellings do."""
    asker = ctx.user_id, ctx.admin, ctx.turn.turn_id
    if isinstance(what, ErasedMemoryNumber):
        return await ctx.store.erase_preview(ctx.space, {"number": what.number}, *asker)
    if not is_long_enough(what.words[:WORDS], ERASE_LETTERS):
        raise WrongArgument(TOO_SHORT)
    words = " ".join(what.words.split())[:WORDS]
    found = await ctx.store.erase_preview(ctx.space, {"words": words}, *asker)
    if found is None and (spellings := await ctx.store.other_spellings(ctx.space, words, ctx.user_id, ctx.admin)):
        raise NotFound(f"I found nothing to erase that matches. {name_spellings(spellings)}")
    return found


def name_spellings(spellings: Sequence[str]) -> str:
    """Says which other spellings there are, and how to erase one of them."""
    named = join_names([f"“{one}”" for one in spellings])
    return f"There is also {named}: /forget --erase {spellings[0]}"


async def keep_shown(ctx: CommandContext, erasure_id: int) -> None:
    """Cancels a previewed erasure."""
    if not await ctx.store.erase_keep(erasure_id, ctx.user_id):
        raise CommandRefused(TOO_LATE)


async def erase_shown(ctx: CommandContext, erasure_id: int) -> Erasing:
    """Erases what was previewed, and retracts the bot's own messages that repeat it."""
    if not await ctx.store.erase_begin(erasure_id, ctx.user_id, ctx.admin):
        raise CommandRefused(TOO_LATE)
    done = await finish_erasure(ctx.store, erasure_id)
    if done is None:
        return Erasing(None)
    with suppress(TimeoutError):
        async with asyncio.timeout(CHAT_SECONDS):
            await ctx.services.retract(erasure_id)
    done = await finish_erasure(ctx.store, erasure_id) or done
    cleanup = ctx.services.erasure_cleanup
    if cleanup is None:
        return Erasing(done)
    await remove_files(ctx.store, cleanup.media_store)
    return Erasing(
        done,
        clears=ctx.admin and cleanup.clears,
        backups=ctx.admin and bool(cleanup.files()),
        remains=cleanup.describe_backups(),
        at_night=cleanup.clears,
    )


@admins_only
async def clear_files(ctx: CommandContext) -> str:
    """Rewrites the database's files without what was erased. Returns what remains, as a sentence."""
    return await require_found(ctx.services.erasure_cleanup, NotAllowed(NOT_YOURS)).clear()


@admins_only
async def purge_backups(ctx: CommandContext) -> int:
    """Replaces all backups with a fresh one. Returns how many were deleted."""
    return (await require_found(ctx.services.erasure_cleanup, NotAllowed(NOT_YOURS)).purge())[1]
