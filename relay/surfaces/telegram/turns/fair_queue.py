"""Limits how many commands and buttons of one person run at once, so that nobody waits for someone else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from relay.memory.claims import ClaimedTurn
from relay.surfaces.telegram.parsing.updates import Bot, command_of, message_of, updates_of

AT_ONCE = 2
"""How many controls of one person run at a time, in order of arrival."""


class FairQueue:
    """Gives each person a few slots."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._places: WeakValueDictionary[tuple[int, str], asyncio.Semaphore] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def place(self, turn: ClaimedTurn) -> AsyncIterator[bool]:
        """Waits for one of the person's slots and holds it. Yields whether it had to wait. Stops wait only for other
        stops, and edits only for other edits, which wait until their message is answered. Queued messages need no slot:
        each chat and topic gets one at a time, and one may wait long for a chat that Telegram holds back."""
        if turn.kind != "control" or turn.message is not None:
            yield False
            return
        places = self._places.setdefault((turn.user_id, self._kind_of(turn)), asyncio.Semaphore(AT_ONCE))
        waits = places.locked()
        async with places:
            yield waits

    def _kind_of(self, turn: ClaimedTurn) -> str:
        """Returns `stop`, `edit`, or (for all other controls) `other`."""
        if not turn.updates:
            return "other"
        update = updates_of(turn)[0]
        if update.edited_message:
            return "edit"
        command = command_of(message_of(update), self._bot) if update.message else None
        stops = update.stopped_message_generation is not None or (command is not None and command.name == "stop")
        return "stop" if stops else "other"
