"""Shares the bot among people: a few of one person's controls run at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from weakref import WeakValueDictionary

from relay.memory.claims import ClaimedTurn
from relay.surfaces.telegram.parsing.updates import Bot, command_of, message_of, updates_of
from relay.surfaces.telegram.turns.understand import lane_of

AT_ONCE = 2
"""How many controls of one person run at a time, in order of arrival, and how many of them a topic has in delivery."""
HELD_SECONDS = 3.0
"""How long a control that is still running keeps the person's place. By then, it most likely waits for a model or for
Telegram."""


class HeldPlaces:
    """The places that a control holds: the person's is taken last."""

    def __init__(self) -> None:
        self._held: list[asyncio.Semaphore] = []
        self._timer: asyncio.TimerHandle | None = None
        """Runs while the person's place is held."""

    async def take(self, place: asyncio.Semaphore) -> bool:
        """Waits for a place and holds it. Returns whether it had to wait."""
        waits = place.locked()
        await place.acquire()
        self._held.append(place)
        return waits

    def begin(self) -> None:
        """Starts the time after which the person's place is given back."""
        self._timer = asyncio.get_running_loop().call_later(HELD_SECONDS, self.give_back_persons)

    def give_back(self) -> None:
        """Gives all places back."""
        self.give_back_persons()
        while self._held:
            self._held.pop().release()

    def give_back_persons(self) -> None:
        """Gives back the person's place, if it is still held; the topic's is kept until the end."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
            self._held.pop().release()


_HELD: ContextVar[HeldPlaces | None] = ContextVar("held", default=None)
"""The places of the control that runs in this task."""


def wait_aside() -> None:
    """Gives back all places of this task's control, which is about to wait for another turn."""
    if held := _HELD.get():
        held.give_back()


def leave_for_delivery() -> None:
    """Gives back the person's place of this task's control, of which only the reply is left to deliver."""
    if held := _HELD.get():
        held.give_back_persons()


class FairQueue:
    """Gives each person a few places, so that a flood from one delays nobody else.

    A control holds one of the person's places while it works. A control that merely waits gives it back, so that it
    delays nothing of theirs in other chats: when its reply waits for a chat that Telegram holds back, when a model
    doesn't answer, or when the edited message is being answered. A second place, one of the person's in that topic, is
    kept until the reply is delivered: it limits how many replies to a flood are on their way.
    """

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._places: WeakValueDictionary[tuple[int | str, ...], asyncio.Semaphore] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def place(self, turn: ClaimedTurn) -> AsyncIterator[bool]:
        """Waits for a control's places and holds them. Yields whether it had to wait. Commands, presses, edits and
        stops wait only for their own kind. Stops need no place in their topic, so they act at once even if the replies
        to earlier ones wait there. Queued messages need none at all: each chat and topic gets one at a time."""
        if turn.kind != "control" or turn.message is not None:
            yield False
            return
        held, waited = HeldPlaces(), False
        token = _HELD.set(held)
        try:
            for key in self._keys_of(turn):
                waited |= await held.take(self._places.setdefault(key, asyncio.Semaphore(AT_ONCE)))
            held.begin()
            yield waited
        finally:
            held.give_back()
            _HELD.reset(token)

    def _keys_of(self, turn: ClaimedTurn) -> list[tuple[int | str, ...]]:
        """Returns the keys of a control's places, in the order in which they are taken: the person's comes last."""
        kind = self._kind_of(turn)
        person = (turn.user_id, kind)
        if kind == "stop" or not turn.updates:
            return [person]
        chat, topic_id, _ = lane_of(turn)
        return [(*person, chat.id, topic_id), person]

    def _kind_of(self, turn: ClaimedTurn) -> str:
        """Returns `stop`, `edit`, `press`, or (for all other controls) `other`."""
        if not turn.updates:
            return "other"
        update = updates_of(turn)[0]
        if update.edited_message or update.callback_query:
            return "edit" if update.edited_message else "press"
        command = command_of(message_of(update), self._bot) if update.message else None
        stops = update.stopped_message_generation is not None or (command is not None and command.name == "stop")
        return "stop" if stops else "other"
