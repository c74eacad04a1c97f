"""Erasing for good: shown first, then taken out of the tables, the chats and the backups."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS
from relay.commands.registry import admins_only
from relay.core.errors import CommandRefused, NotAllowed
from relay.memory.erasure import erased, remove_files
from relay.memory.rows.upkeep.erasure import ErasePreview, ErasureStep

LETTERS = 4
"""The fewest letters and digits of words that are erased."""
WORDS = 200
"""Characters of words that are searched for, at most."""
CHAT_SECONDS = 20.0
"""So long the chats are cleared before the erasure is reported; the rest follows."""
TOO_LATE = "That's already erased, was shown too long ago, or is not yours. Start again: /forget --erase"
TOO_SHORT = (
    "What should I erase for good? Write its number from /memory (/forget --erase #12), or words that all of it "
    f"has, at least {LETTERS} letters."
)


@dataclass(frozen=True, slots=True)
class ErasedMemoryNumber:
    """A memory to erase, by the number that people see, with the messages that it came from."""

    number: int


@dataclass(frozen=True, slots=True)
class ErasedWords:
    """Words to erase: everything that contains all of them."""

    words: str


EraseQuery = ErasedMemoryNumber | ErasedWords


@dataclass(frozen=True, slots=True)
class Erasing:
    """What came of an erasure."""

    step: ErasureStep | None
    """None: another process is still at it, and finishes it."""
    clears: bool = False
    """The database's files can be written anew at once."""
    backups: bool = False
    """There are backups that may hold it."""
    remains: str | None = None
    """Which backups may hold it, as a sentence; None: nobody here knows."""
    at_night: bool = False
    """The database's files are written anew in the coming night."""


def is_long_enough(what: ErasedWords) -> bool:
    """Whether words have enough letters to erase by them."""
    return sum(c.isalnum() for c in what.words[:WORDS]) >= LETTERS


async def preview_erasure(ctx: CommandContext, what: EraseQuery) -> ErasePreview | None:
    """Returns what an erasure would take; None: there is nothing like that which is this person's to erase."""
    if isinstance(what, ErasedMemoryNumber):
        query: dict[str, object] = {"number": what.number}
    else:
        if not is_long_enough(what):
            raise CommandRefused(TOO_SHORT)
        query = {"words": " ".join(what.words.split())[:WORDS]}
    return await ctx.store.erase_preview(ctx.space, query, ctx.user_id, ctx.admin, ctx.turn.turn_id)


async def keep_shown(ctx: CommandContext, erasure_id: int) -> None:
    """Erases nothing of what was shown."""
    if not await ctx.store.erase_keep(erasure_id, ctx.user_id):
        raise CommandRefused(TOO_LATE)


async def erase_shown(ctx: CommandContext, erasure_id: int) -> Erasing:
    """Erases what was shown, and takes back the bot's own messages that repeat it."""
    if not await ctx.store.erase_begin(erasure_id, ctx.user_id, ctx.admin):
        raise CommandRefused(TOO_LATE)
    done = await erased(ctx.store, erasure_id)
    if done is None:
        return Erasing(None)
    with suppress(TimeoutError):
        async with asyncio.timeout(CHAT_SECONDS):
            await ctx.services.retract(erasure_id)
    done = await erased(ctx.store, erasure_id) or done
    leftovers = ctx.services.leftovers
    if leftovers is None:
        return Erasing(done)
    await remove_files(ctx.store, leftovers.keeper)
    return Erasing(
        done,
        clears=ctx.admin and leftovers.clears,
        backups=ctx.admin and bool(leftovers.files()),
        remains=leftovers.told(),
        at_night=leftovers.clears,
    )


@admins_only
async def clear_files(ctx: CommandContext) -> str:
    """Writes the database's files anew, without what was erased. Returns what is left, as a sentence."""
    if ctx.services.leftovers is None:
        raise NotAllowed(NOT_YOURS)
    return await ctx.services.leftovers.clear()


@admins_only
async def purge_backups(ctx: CommandContext) -> int:
    """Replaces all backups by a fresh one. Returns how many were removed."""
    if ctx.services.leftovers is None:
        raise NotAllowed(NOT_YOURS)
    return (await ctx.services.leftovers.purge())[1]
