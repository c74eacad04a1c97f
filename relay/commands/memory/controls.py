"""Memory switches: on, off, paused; what a chat recalls and teaches; forgetting everything."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.memory.access import PauseSwitch, check_pause, check_switch, find_space, may_switch
from relay.commands.registry import ADMINS_ONLY, command, operation
from relay.commands.session.session import NOT_ENDED
from relay.core.errors import CommandRefused, NotAllowed
from relay.core.frozen import frozen
from relay.core.models import Thread
from relay.memory.rows.controls import Controls, OffRecord


@frozen
class MemorySwitch(PauseSwitch):
    """The switches of memory to change; None: unchanged."""

    recalls: bool | None = None
    """Whether this chat uses memory."""
    teaches: bool | None = None
    """Whether this chat adds to memory."""

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_control` takes."""
        chat = {"recalls": self.recalls, "teaches": self.teaches}
        return self.changes("memory") | {name: value for name, value in chat.items() if value is not None}


@frozen
class ForgottenAll:
    """How many memories were forgotten."""

    forgotten: int


@operation("chat", "cli", "http")
async def show_controls(ctx: CommandContext, space_id: int | None = None) -> Controls:
    """Returns a memory's switches. `space_id` None: this space; 0: the person's own."""
    return await ctx.store.controls(ctx.thread_in(await find_space(ctx, space_id)))


@operation("chat", "cli", "http")
async def switch(ctx: CommandContext, to: MemorySwitch, space_id: int | None = None) -> Controls:
    """Sets a space's or this chat's memory switches. Returns the new state. Raises `OutOfRange` for a pause that has
    ended or is too long."""
    space = await find_space(ctx, space_id)
    check_switch(ctx, space)
    check_pause(to.paused_until)
    await ctx.store.control(Thread(space, ctx.chat_id, ctx.topic_id), ctx.user_id, to.as_json())
    return await ctx.store.controls(ctx.thread_in(space))


async def count_for_reset(ctx: CommandContext) -> int:
    """Returns how many memories `reset` would forget."""
    check_switch(ctx, ctx.space)
    return (await ctx.store.controls(ctx.thread)).memories


async def reset(ctx: CommandContext, known: int) -> ForgottenAll:
    """Forgets everything in this space. `known`: the number of memories, as confirmation."""
    check_switch(ctx, ctx.space)
    left: int | None = 1
    while left:
        left = await ctx.store.confirm_reset(ctx.turn, ctx.space, ctx.user_id, known)
    if left is None:
        raise CommandRefused("That number doesn't match. Nothing was forgotten.")
    return ForgottenAll(known)


@command("private", usage="[off]", help="talk off the record; it's erased when you end it")
async def talk_privately(ctx: CommandContext, on: bool | None = True) -> OffRecord:
    """Begins an off-the-record conversation in this thread, or ends and erases it. None: only returns its state."""
    may = may_switch(ctx, ctx.space)
    done = await ctx.store.private(ctx.thread, on, ctx.user_id, may)
    if done.refused:
        raise NotAllowed(ADMINS_ONLY if on else NOT_ENDED)
    return done
