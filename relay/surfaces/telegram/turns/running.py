"""The turns that this process is running."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from relay.memory.claims import ClaimedTurn
from relay.surfaces.telegram.parsing.message_parser import is_forward, is_sequel
from relay.surfaces.telegram.parsing.objects import Message
from relay.surfaces.telegram.parsing.updates import is_commented, message_of, topic_of, updates_of

LATE_PASTE_SECONDS = 2.0
"""How long after a text the rest of it can still join."""
LATE_ALBUM_SECONDS = 10.0
"""How long after an album its late parts can still join."""


@dataclass(slots=True)
class RunningTurn:
    """A turn that runs in a lane."""

    turn: ClaimedTurn
    chat_id: int
    topic_id: int
    last: Message
    """The newest message that it answers, or that joins it."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    join: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a late message belongs to the turn."""
    closed: bool = False
    """A late message could not be absorbed, so no other joins."""
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.turn.stopped:
            self.stop.set()

    @property
    def albums(self) -> set[str]:
        """The albums that the turn has parts of."""
        return {message_of(update).media_group_id for update in updates_of(self.turn)} - {""}

    def is_continued_by(self, message: Message) -> bool:
        """Tests whether a message of the same person is a late part of an album or a text of the turn, or was forwarded
        with it."""
        age = time.monotonic() - self.started
        if is_forward(message):
            return is_commented(self.last, message)
        if message.media_group_id:
            return message.media_group_id in self.albums and age <= LATE_ALBUM_SECONDS
        return is_sequel(self.last, message) and age <= LATE_PASTE_SECONDS

    def has(self, message_id: int) -> bool:
        """Whether the turn answers a message."""
        return any(message_of(update).message_id == message_id for update in updates_of(self.turn))


class RunningTurns:
    """All running turns, by id."""

    def __init__(self) -> None:
        self._by_turn: dict[int, RunningTurn] = {}

    def add(self, run: RunningTurn) -> None:
        self._by_turn[run.turn.turn_id] = run

    def remove(self, turn_id: int) -> None:
        self._by_turn.pop(turn_id, None)

    def _list_in(self, chat_id: int, topic_id: int) -> list[RunningTurn]:
        return [r for r in self._by_turn.values() if (r.chat_id, r.topic_id) == (chat_id, topic_id)]

    def stop(self, chat_id: int, topic_id: int, turn_id: int | None = None) -> bool | None:
        """Stops everything in a lane, or one turn in that chat. Returns whether any was still running; None if nothing
        matching runs here."""
        found = self._list_in(chat_id, topic_id) if turn_id is None else [*filter(None, [self._by_turn.get(turn_id)])]
        runs = [run for run in found if run.chat_id == chat_id]
        if not runs:
            return None
        news = not all(run.stop.is_set() for run in runs)
        for run in runs:
            run.stop.set()
        return news

    def stop_on_request(self, turn_id: int) -> None:
        """Stops a running answer at another process's request."""
        if run := self._by_turn.get(turn_id):
            run.stop.set()

    def join(self, message: Message, user_id: int) -> bool:
        """Lets a message join the running turn that it continues. Returns whether it joined."""
        lane = self._list_in(message.chat.id, topic_of(message))
        run = next((one for one in lane if one.turn.kind != "control"), None)
        if run is None or run.closed or run.turn.user_id != user_id or not run.is_continued_by(message):
            return False
        if message.message_id > run.last.message_id:
            run.last = message  # the next one follows this one
        run.join.set()
        return True
