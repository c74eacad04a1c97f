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
        self._places: WeakValueDictionary[tuple[int, bool], asyncio.Semaphore] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def place(self, turn: ClaimedTurn) -> AsyncIterator[bool]:
        """Waits for one of the person's slots and holds it. Yields whether it had to wait. A stop waits only for other
        stops."""
        if turn.kind != "control":
            yield False
            return
        places = self._places.setdefault((turn.user_id, self._stops(turn)), asyncio.Semaphore(AT_ONCE))
        waits = places.locked()
        async with places:
            yield waits

    def _stops(self, turn: ClaimedTurn) -> bool:
        if not turn.updates:
            return False
        update = updates_of(turn)[0]
        command = command_of(message_of(update), self._bot) if update.message else None
        return update.stopped_message_generation is not None or (command is not None and command.name == "stop")
