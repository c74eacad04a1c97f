"""One claimed turn: from its updates to its delivered reply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace

import structlog

from relay.commands.context import Services
from relay.conversation.engine import Engine
from relay.conversation.turn import answer
from relay.core.errors import TurnUndone
from relay.core.frozen import frozen
from relay.core.models import Incoming, Space
from relay.core.tasks import run_beside, wait_or_cancel
from relay.core.text import escape_markdown
from relay.media.attachment_reader import is_usable, read_attachments
from relay.media.reading import Reader
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.choices import Choices
from relay.memory.rows.delivery import Part, QueuedMessage
from relay.memory.rows.turns.answer import Answer
from relay.surfaces.telegram.formatting.format import run_formatting
from relay.surfaces.telegram.groups.access_requests import should_run
from relay.surfaces.telegram.groups.groups import Connection
from relay.surfaces.telegram.outgoing.delivery import Delivery, allow_everywhere
from relay.surfaces.telegram.outgoing.render import answer_parts
from relay.surfaces.telegram.outgoing.sender import STOPPED
from relay.surfaces.telegram.outgoing.stream import Preview, PreviewLimits
from relay.surfaces.telegram.parsing.objects import Chat
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import is_comment, message_of, updates_of
from relay.surfaces.telegram.turns.controls import ControlResult, Controls
from relay.surfaces.telegram.turns.echo import Echoes
from relay.surfaces.telegram.turns.fair_queue import leave_for_delivery
from relay.surfaces.telegram.turns.notices import make_queued_parts, notice_parts
from relay.surfaces.telegram.turns.retry import with_model
from relay.surfaces.telegram.turns.running import RunningTurn, RunningTurns
from relay.surfaces.telegram.turns.understand import is_silenced, lane_of, topic_pressed, understand

log = structlog.get_logger()

Readers = Callable[[], Awaitable[bool]]
"""Checks whether a reply may still be shown in its chat."""


@frozen
class TurnRunner:
    """Runs the turns that this process holds."""

    engine: Engine
    connection: Connection
    services: Services
    reader: Reader
    controls: Controls
    delivery: Delivery
    echoes: Echoes
    runs: RunningTurns
    on_owed: Callable[[Sequence[str]], None]
    """Called with the kinds of jobs that have become due."""
    no_drafts: set[int] = field(default_factory=set)
    """Chats in which Telegram refuses drafts."""

    async def run(self, turn: ClaimedTurn) -> bool:
        """Runs a claimed turn from its updates to its delivered reply. Returns whether its lane has more to do."""
        if turn.message is not None:
            return await self._send_queued(turn, turn.message)
        if not turn.updates:  # a command at a terminal, whose process ended before it was done
            return await self._deliver(turn, [])
        chat, topic_id, message_id = lane_of(turn)
        if query := updates_of(turn)[0].callback_query:
            topic_id = await topic_pressed(query, self.connection.bot, self.engine.store)
        structlog.contextvars.bind_contextvars(chat_id=chat.id, topic_id=topic_id)
        place = Place(chat.id, topic_id, chat.private, message_id, is_comment(message_of(updates_of(turn)[-1])))
        role, bot = self.services.people.role_of(turn), self.connection.bot
        if turn.status != "answered" and (not should_run(turn, role) or is_silenced(turn, bot, role == "admin")):
            return await self._deliver(turn, [])
        run = RunningTurn(turn, chat.id, topic_id, message_of(updates_of(turn)[-1]))
        if turn.kind == "control":
            if turn.status == "answered":
                handled = ControlResult(await self._load_parts(turn, place), self._space_of(turn, chat))
            else:
                handled = await self.controls.handle(turn)
            if any(part.request.keys() & {"say", "export"} for part in handled.parts):
                self.runs.add(run)  # slow replies can be stopped
            leave_for_delivery()
            return await self._deliver_told(turn, chat, handled, run.stop)
        self.runs.add(run)
        if turn.status == "answered":
            readers = self._readers(turn, chat, self._space_of(turn, chat))
            return await self._deliver(turn, await self._load_parts(turn, place), run.stop, readers)
        return await self._answer(run, turn, chat, role == "admin")

    async def _answer(self, run: RunningTurn, turn: ClaimedTurn, chat: Chat, admin: bool) -> bool:
        """Answers a turn, and starts over when a late message joins it. Returns the same as `run`."""
        to = self.connection
        while True:
            if not admin:
                turn = replace(turn, linked_to=None)  # only an admin can lend their memory, while they are one
            understood = await understand(turn, to.bot, to.groups, to.messenger, self.engine.store)
            if understood.wanted:
                understood = with_model(understood, self.services, admin)
            if understood.command is not None:
                return await self._deliver_told(turn, chat, await self.controls.handle(turn))
            if understood.notice is not None or understood.incoming is None:
                shows = Space("private", owner_id=turn.user_id) if understood.changes else None
                return await self._deliver_told(turn, chat, ControlResult(notice_parts(understood), shows))
            incoming = replace(understood.incoming, operator=admin and understood.place.private)
            readers = self._readers(turn, chat, incoming.space)
            try:
                told = await self._answer_with_preview(run, incoming, understood.place, readers)
                if told is not None:
                    parts = await self._parts(told, understood.place, turn.turn_id)
                    stop = None if told.note.endswith(STOPPED) else run.stop
                    return await self._deliver(run.turn, parts, stop, readers)
            except TurnUndone as error:
                log.warning("turn starts over", error=str(error))
            run.join.clear()
            last = run.last.message_id
            run.turn = turn = await self.engine.store.absorb(turn)
            run.closed = not run.has(last)
            if turn.status == "answered":
                return await self._deliver(turn, await self._load_parts(turn, understood.place), run.stop, readers)

    async def _send_queued(self, turn: ClaimedTurn, message: QueuedMessage) -> bool:
        """Sends a queued message that is due, unless the person may no longer use the bot. One from private memory goes
        to its owner's own chat if others can read its group by now."""
        structlog.contextvars.bind_contextvars(chat_id=message.chat_id, topic_id=message.topic_id)
        if turn.status != "answered" and self.services.people.role_of(turn) is None:
            return await self._deliver(turn, [])
        chat = Chat(message.chat_id, "private" if message.chat_id >= 0 else "supergroup")
        space = None if turn.owner_id is None else Space("private", owner_id=turn.owner_id)
        readers = self._readers(turn, chat, space)
        if turn.owner_id is not None and message.under_turn_id is None and not await readers():
            message = replace(message, chat_id=turn.owner_id, topic_id=0, reply_to=None)
        parts = await make_queued_parts(
            self.engine.store, self.connection.messenger, self.connection.bot.id, turn, message
        )
        return await self._deliver(turn, parts, None, readers)

    def _space_of(self, turn: ClaimedTurn, chat: Chat) -> Space:
        """Returns the space that a stored reply was made from."""
        if turn.owner_id is not None:
            return Space("private", owner_id=turn.owner_id)
        return Space("group", chat_id=chat.id)

    def _readers(self, turn: ClaimedTurn, chat: Chat, space: Space | None) -> Readers:
        """Returns the check of whether a reply made from this space may still be shown. None: anyone may read it."""
        if space is None or chat.private:
            return allow_everywhere
        lent = turn.linked_to == turn.user_id
        return lambda: self.connection.groups.may_read(chat, turn.user_id, space, lent)

    async def _answer_with_preview(
        self, run: RunningTurn, incoming: Incoming, place: Place, readers: Readers
    ) -> Answer | None:
        """Answers an input; None if a late message has joined it in the meantime."""
        log.debug("heard", text=incoming.text)
        limits = PreviewLimits(self.no_drafts, incoming.replaces, readers)
        messenger, bot = self.connection.messenger, self.connection.bot
        preview = Preview(messenger, self.engine.store, run.turn, bot.id, place, limits)
        async with (
            preview,
            run_beside(run.join.wait()) as joined,
            run_beside(self._read_and_answer(run, incoming, place, preview)) as work,
        ):
            await asyncio.wait({work, joined}, return_when=asyncio.FIRST_COMPLETED)
            told = work.result() if work.done() else None
        if told is not None and not run.stop.is_set():
            await preview.settle(run.stop)
        log.debug("answered", text=told.text if told else None)
        return told

    async def _read_and_answer(self, run: RunningTurn, incoming: Incoming, place: Place, preview: Preview) -> Answer:
        """Reads an input's files and answers it. If nothing in it is usable, the answer only says so."""
        read = await wait_or_cancel(
            run.stop, read_attachments(incoming, self.reader, self.echoes.of(run.turn, incoming, place))
        )
        if read is None:
            return Answer("", note=STOPPED)
        if read.notices and not is_usable(read):
            return Answer("\n\n".join(map(escape_markdown, read.notices)), choices=Choices(sound=False, keep=False))
        told = await answer(self.engine, read, preview, run.stop)
        run.turn = replace(run.turn, status="answered")
        return told

    async def _load_parts(self, turn: ClaimedTurn, place: Place) -> list[Part]:
        """Returns the parts of a reply that an earlier process stored."""
        if turn.answer is None:
            return list(turn.parts)
        alone = place.private and len(turn.updates) < 2
        return await self._parts(turn.answer, replace(place, reply_to=None) if alone else place, turn.turn_id)

    async def _parts(self, told: Answer, place: Place, turn_id: int) -> list[Part]:
        """Renders an answer as parts to send, with a voice note only if an engine is installed."""
        told = told if self.services.installation.speaks else replace(told, aloud=False)
        return await run_formatting(lambda _: answer_parts(told, place, turn_id), told.text)

    async def _deliver_told(
        self, turn: ClaimedTurn, chat: Chat, told: ControlResult, stop: asyncio.Event | None = None
    ) -> bool:
        """Delivers a reply that is not an answer. Stores whose memory it shows in a group, in case another process
        delivers it."""
        owner_id = told.space.owner_id if told.space and not chat.private else None
        return await self._deliver(turn, told.parts, stop, self._readers(turn, chat, told.space), owner_id)

    async def _deliver(
        self,
        turn: ClaimedTurn,
        parts: Sequence[Part],
        stop: asyncio.Event | None = None,
        readers: Readers = allow_everywhere,
        owner_id: int | None = None,
    ) -> bool:
        done = await self.delivery.deliver(turn, parts, stop, readers, owner_id)
        if done.owed:
            self.on_owed(done.owed)
        return done.more
