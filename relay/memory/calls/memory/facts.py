"""Memories, their changes, and the switches of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.core.models import Space, Thread
from relay.memory.calls.base import Calls, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.changes import Changed, ChangePage, ChangePlace, MemoryChange, MemoryPast
from relay.memory.rows.controls import Controls, DecidedWaiting, OffRecord
from relay.memory.rows.memories import (
    ForgetPreview,
    ForgetProgress,
    KeepableMessage,
    MemoryFilter,
    MemoryPage,
    MemorySource,
    OpenedMemory,
)

Action = Mapping[str, object]
"""Requests in the form of `relay.apply_actions`."""
ALL = MemoryFilter()


class FactCalls(Calls):
    """Facts and learnings, their changes, and the switches of memory."""

    @rpc()
    async def space(self, space_id: int) -> Space | None:
        """Returns the space with an id."""

    @rpc()
    async def change_memory(self, turn: ClaimedTurn, space: Space, actions: Sequence[Action]) -> Changed:
        """Applies a person's requests: see `relay.apply_actions`."""

    @rpc()
    async def change_directly(self, space: Space, user_id: int | None, actions: Sequence[Action]) -> Changed:
        """Applies requests of a script, in a separate turn."""

    @rpc("list_memories")
    async def memories(self, space: Space, offset: int, limit: int, chosen: MemoryFilter = ALL) -> MemoryPage:
        """Returns a page of memories, newest first; past the end, the last page."""

    @rpc()
    async def open_memory(self, memory_id: int, user_id: int, admin: bool) -> OpenedMemory | None:
        """Returns a memory of any space and state. `last` is set if this person may undo that change. The caller checks
        whether the person may see its space."""

    @rpc("numbered_memory")
    async def find_by_number(self, space: Space, number: int) -> int:
        """Returns the id of the memory with a number in a space; 0: there is none."""

    @rpc("memory_source")
    async def source(self, memory_id: int) -> MemorySource | None:
        """Returns a memory's origin; None: there is no such memory."""

    @rpc("memory_history")
    async def history(
        self, space: Space, waiting: bool, offset: int, limit: int, user_id: int, admin: bool
    ) -> ChangePage:
        """Returns a page of a space's changes, newest first. `waiting`: only pending ones."""

    @rpc()
    async def memory_past(self, memory_id: int, offset: int, limit: int) -> MemoryPast:
        """Returns a page of a memory's changes, newest first."""

    @rpc()
    async def keepable(
        self, space: Space, bot_id: int = 0, chat_id: int = 0, telegram_message_id: int = 0, turn_id: int | None = None
    ) -> KeepableMessage | None:
        """Returns the space's message with a Telegram id, or `turn_id`'s answer."""

    @rpc("changed_in")
    async def find_change_place(self, turn_id: int | None = None, change_id: int | None = None) -> ChangePlace | None:
        """Returns the place of a turn's changes, or of one change."""

    @rpc("asked_of")
    async def find_question(self, bot_id: int, chat_id: int, telegram_message_id: int, user_id: int) -> str:
        """Returns the question that one of the bot's messages asks a person by forcing a reply; empty for other
        messages."""

    @rpc()
    async def changes(self, turn_id: int, user_id: int, admin: bool) -> list[MemoryChange] | None:
        """Returns a turn's changes for a person who may decide some of them; None for others."""

    @rpc()
    async def decide_change(
        self, change_id: int, user_id: int, admin: bool, decision: str
    ) -> list[MemoryChange] | None:
        """Undoes, keeps or discards a change. Returns the turn's changes; None if this person may not decide. A change
        whose memory has changed again stays applied."""

    @rpc()
    async def controls(self, thread: Thread) -> Controls:
        """Returns the switches of a space's memory and of a thread."""

    @rpc()
    async def control(self, thread: Thread, user_id: int, change: Mapping[str, object]) -> Controls:
        """Sets switches of a space (`{memory, paused_until}`) or thread (`{recalls, teaches}`); others stay. Returns
        the new state."""

    @rpc()
    async def decide_waiting(self, space: Space, user_id: int, admin: bool, decision: str) -> DecidedWaiting:
        """Keeps or discards all pending changes that this person may decide, up to 200."""

    @rpc()
    async def forget_preview(
        self, turn: ClaimedTurn, space: Space, pattern: str, user_id: int, admin: bool
    ) -> ForgetPreview:
        """Previews what a pattern would forget, stored with the turn for `forget_shown`."""

    @rpc()
    async def forget_shown(self, turn_id: int, user_id: int, admin: bool, undo: bool = False) -> ForgetProgress | None:
        """Forgets a batch of what a turn previewed, or restores a batch. None: it was not shown to this person."""

    @rpc()
    async def was_shown(self, turn_id: int, user_id: int) -> bool:
        """Tests whether a command showed this person what it would forget."""

    @rpc()
    async def confirm_reset(self, turn: ClaimedTurn, space: Space, user_id: int, known: int) -> int | None:
        """Forgets a batch of all memories in a space, after a turn confirmed their number. Returns how many are left. A
        repeated turn continues. None: the number is wrong, and nothing was forgotten."""

    @rpc()
    async def private(self, thread: Thread, on: bool | None, user_id: int, may: bool = True) -> OffRecord:
        """Begins (True) or ends (False) an off-the-record session; None: only returns its state. `may`: this person may
        begin one, and end one that someone else began; without it, they may only end their own. Anything else is
        `refused`."""

    @rpc()
    async def sweep_private(self, idle_hours: int) -> int:
        """Ends silent off-the-record sessions and erases ended ones. Returns how many are still to be erased."""
