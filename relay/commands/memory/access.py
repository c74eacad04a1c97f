"""Access rights: who may see and change a memory, and where it may be shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from relay.commands.context import CommandContext
from relay.commands.registry import ADMINS_ONLY
from relay.core.errors import NotAllowed, NotFound, OutOfRange
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.memory.rows.changes import ChangePlace
from relay.memory.rows.memories import MemoryLine, OpenedMemory

LONGEST_PAUSE = timedelta(days=3_650)
GONE = "This is gone, or not yours to see."
"""The same text for things that don't exist and for those of others."""
NOT_YOURS = "That's not yours to decide."
ELSEWHERE = "Others can read this chat. /memory changes shows it in our private chat."


@frozen
class PauseSwitch:
    """What to change of something that can be on, off or paused; None: unchanged."""

    on: bool | None = None
    """Turns it on or off, and ends a pause."""
    paused_until: datetime | None = None
    resume: bool = False
    """Ends a pause."""

    def changes(self, name: str) -> dict[str, object]:
        """Returns the changes in JSON. `name`: what is on or off."""
        change: dict[str, object] = {} if self.on is None else {name: "on" if self.on else "off"}
        if self.paused_until is not None:
            change["paused_until"] = self.paused_until.astimezone(UTC).isoformat()
        elif self.on is not None or self.resume:
            change["paused_until"] = None
        return change


def is_at_home(ctx: CommandContext, space: Space) -> bool:
    """Tests whether a space may be shown here: in its owner's chat, or among its group's members."""
    return ctx.private or space in (ctx.space, Space("group", chat_id=ctx.chat_id))


def may_edit(ctx: CommandContext, row: MemoryLine, space: Space) -> bool:
    """Tests whether this person may reword a memory: as its owner; in a group, as its subject, as the person who kept
    it, or as an admin."""
    return space.kind == "private" or ctx.admin or ctx.user_id in (row.subject_id, row.promoted_by)


def may_forget(ctx: CommandContext, row: MemoryLine, space: Space) -> bool:
    """Tests whether this person may forget and pin a memory: if they may reword it, or it is about nobody."""
    return row.subject_id is None or may_edit(ctx, row, space)


def may_switch(ctx: CommandContext, space: Space) -> bool:
    """Tests whether this person may change a space's memory switches: of their own space, or of a group's as an
    admin."""
    return space.owner_id == ctx.user_id if space.kind == "private" else ctx.admin


def check_switch(ctx: CommandContext, space: Space) -> None:
    """Raises `NotAllowed` unless this person may change a space's memory switches."""
    if not may_switch(ctx, space):
        raise NotAllowed(NOT_YOURS if space.kind == "private" else ADMINS_ONLY)


async def require_switch(ctx: CommandContext) -> None:
    """Raises `NotAllowed` unless this person sees this space now and may change its memory switches."""
    await ctx.require_sight()
    check_switch(ctx, ctx.space)


def check_pause(until: datetime | None) -> None:
    """Raises `OutOfRange` for a pause that has ended already, or is too long."""
    now = datetime.now(UTC)
    if until is not None and not now < until < now + LONGEST_PAUSE:
        raise OutOfRange("A pause must end in the future, within ten years.")


async def find_space(ctx: CommandContext, space_id: int | None) -> Space:
    """Returns a space by id (None: this one; 0: the person's own). Raises `NotFound` if this person may not see it
    here."""
    if space_id is None:
        return ctx.space
    if not ctx.private:
        raise NotFound(GONE)
    if not space_id:
        return Space("private", owner_id=ctx.user_id)
    space = await ctx.store.space(space_id)
    if space is None or not await ctx.may_see(space):
        raise NotFound(GONE)
    return space


async def find_memory(ctx: CommandContext, memory_id: int) -> OpenedMemory:
    """Returns a memory by id. Raises `NotFound` if this person may not see it here."""
    row = await ctx.store.open_memory(memory_id, ctx.user_id, ctx.admin) if ctx.private else None
    if row is None or not await ctx.may_see(row.space):
        raise NotFound(GONE)
    return row


async def find_change(ctx: CommandContext, change_id: int) -> ChangePlace:
    """Returns the place of a change. Raises `NotFound` if this person may not see it here."""
    place = await ctx.store.find_change_place(change_id=change_id) if ctx.private else None
    if place is None or not await ctx.may_see(place.space):
        raise NotFound(GONE)
    return place


async def find_place(ctx: CommandContext, turn_id: int | None = None, change_id: int | None = None) -> ChangePlace:
    """Returns the place of a turn's changes, or of one change. Raises `NotAllowed` if they are not for this person or
    place."""
    place = await ctx.store.find_change_place(turn_id, change_id)
    if place is None or not await ctx.may_see(place.space):
        raise NotAllowed(NOT_YOURS)
    if not is_at_home(ctx, place.space):
        raise NotAllowed(ELSEWHERE)
    return place
