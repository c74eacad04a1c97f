"""The worker: claims turns, runs each as a task of its own, and hands the reply to delivery."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from relay.commands.context import Services
from relay.conversation.cancellation import wait_or_cancel
from relay.conversation.turn import Engine, answer
from relay.core import metrics
from relay.core.errors import DatabaseError, RelayError, TurnLost, TurnUndone
from relay.core.models import Incoming, Space
from relay.core.ports import Messenger, TextToSpeech
from relay.core.redaction.redact import redact
from relay.core.text import escape_markdown
from relay.media.attachment_reader import filled, is_usable
from relay.media.reading import Reader
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.answer import Answer
from relay.memory.rows.choices import Choices
from relay.memory.rows.delivery import Part
from relay.memory.store import Store
from relay.surfaces.telegram.formatting.format import unhurried
from relay.surfaces.telegram.groups.access_requests import served
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.outgoing.delivery import Delivery, everywhere
from relay.surfaces.telegram.outgoing.exports import Exports
from relay.surfaces.telegram.outgoing.render import answer_parts
from relay.surfaces.telegram.outgoing.sender import STOPPED
from relay.surfaces.telegram.outgoing.stream import Preview
from relay.surfaces.telegram.parsing.objects import Chat
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import Bot, updates_of
from relay.surfaces.telegram.turns.controls import Controls, Handled
from relay.surfaces.telegram.turns.echo import Echoes
from relay.surfaces.telegram.turns.fair_queue import FairQueue
from relay.surfaces.telegram.turns.notices import APOLOGY, UNDELIVERED, notice_parts, tell_trouble
from relay.surfaces.telegram.turns.polling_lease import PollLease
from relay.surfaces.telegram.turns.retry import with_model
from relay.surfaces.telegram.turns.running import Run, Runs
from relay.surfaces.telegram.turns.understand import lane_of, silenced, topic_pressed, understand

log = structlog.get_logger()

Readers = Callable[[], Awaitable[bool]]
"""Whether a reply may still be shown where it goes."""

IDLE_SECONDS = 5.0
"""How long a process that has nothing to do leaves the database alone."""
BUSY_SECONDS = 2.0
"""How long one that is answering does: so soon it hears of a /stop that came in elsewhere."""
STANDBY_SECONDS = 2.5
"""How long one that waits for its turn to poll does."""


class Worker:
    """Runs turns: many lanes at once, one turn at a time in each."""

    def __init__(
        self,
        engine: Engine,
        messenger: Messenger,
        bot: Bot,
        groups: Groups,
        concurrency: int,
        services: Services,
        on_owed: Callable[[Sequence[str]], None],
        reader: Reader,
        voice_echo: str = "always",
        voice: TextToSpeech | None = None,
    ) -> None:
        self.engine = engine
        self.store: Store = engine.store
        self.messenger = messenger
        self.bot = bot
        self.groups = groups
        self.runs = Runs()
        self.poll_lease = PollLease()
        self._services = services
        exports = Exports(engine.store, messenger, services.version, services.scratch)
        self._delivery = Delivery(
            engine.store, messenger, bot.id, voice, lambda turn: services.people.role_of(turn) == "admin", exports
        )
        self._echoes = Echoes(self._delivery, voice_echo)
        self._controls = Controls(services, bot, groups, self.runs)
        self._concurrency = concurrency
        self._queue = FairQueue(bot)
        self._on_owed = on_owed
        self._reader = reader
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._turns: dict[int, ClaimedTurn] = {}
        self._wake = asyncio.Event()
        self._claiming = asyncio.Lock()
        self._next_at = 0.0
        self._no_drafts: set[int] = set()
        self.closing = False

    @property
    def free(self) -> int:
        """How many more turns may run."""
        messages = sum(turn.kind == "message" for turn in self._turns.values())
        return 0 if self.closing else max(0, self._concurrency - messages)

    @property
    def answering(self) -> bool:
        """Whether somebody waits for an answer."""
        return any(turn.kind == "message" for turn in self._turns.values())

    @property
    def running(self) -> list[int]:
        """The turns that run here."""
        return list(self._tasks)

    async def settled(self) -> None:
        """Waits until no turn is running here."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    def accept(self, turns: list[ClaimedTurn], wait: float | None) -> None:
        """Runs claimed turns, in the order of what caused them. `wait`: in how many seconds more may be due.

        While this process stops it runs none: what it was just handed goes back with the rest.
        """
        if self.closing:
            return
        for turn in sorted(turns, key=lambda turn: turn.updates[0]["update_id"] if turn.updates else 0):
            if turn.turn_id in self._tasks:
                if turn.fence < self._turns[turn.turn_id].fence:
                    continue  # what was claimed before came later
                self._tasks[turn.turn_id].cancel()
            self._turns[turn.turn_id] = turn
            self._tasks[turn.turn_id] = asyncio.create_task(self._guarded(turn), name=f"turn {turn.turn_id}")
        if wait is not None:
            self._next_at = min(self._next_at, time.monotonic() + wait)
            self._wake.set()

    async def run(self) -> None:
        """Claims until cancelled."""
        while True:
            self._wake.clear()
            pause = BUSY_SECONDS if self._tasks else STANDBY_SECONDS if self.poll_lease.waiting else IDLE_SECONDS
            self._next_at = time.monotonic() + pause
            try:
                await self._claim()
            except DatabaseError as error:
                log.error("the queue cannot be read", error=str(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.02, self._next_at - time.monotonic())):
                    await self._wake.wait()

    async def _claim(self) -> None:
        """Takes what is due, keeps what it has, and heeds what came of that elsewhere."""
        async with self._claiming:
            if self.closing and not self._tasks:
                return
            asked_at = time.monotonic()
            turns, news = await self.store.claim(self.bot.id, self.free, self.running)
        self.poll_lease.told(news.polls, asked_at)
        for turn_id in news.lost:
            if turn_id in self._tasks:
                log.warning("turn taken over by another process", turn_id=turn_id)
                self._tasks[turn_id].cancel()
        for turn_id in news.stopped:
            self.runs.asked_to_stop(turn_id)
        self.accept(turns, None)
        if news.owed:
            self._on_owed(news.owed)
        if news.wait is not None and self.free:
            self._next_at = min(self._next_at, time.monotonic() + news.wait)

    async def close(self, seconds: float) -> None:
        """Takes no more turns, gives the running ones time to end, and hands the rest back."""
        self.closing = True
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        with contextlib.suppress(RelayError, TimeoutError):
            # A claim that comes after it would show that this process is there.
            async with asyncio.timeout(5), self._claiming:
                await self.store.release()

    async def _guarded(self, turn: ClaimedTurn) -> None:
        """Runs a turn; whatever goes wrong, its lane goes on."""
        structlog.contextvars.bind_contextvars(turn_id=turn.turn_id)
        metrics.STAGE_SECONDS.labels("queue").observe(turn.waited)
        more = True
        try:
            async with self._queue.place(turn) as waited:
                if waited and self.closing:
                    return  # it goes back with the rest
                with metrics.turn(turn.kind):
                    more = await self._run(turn)
            log.info("turn done", kind=turn.kind)
        except TurnLost:
            log.info("turn taken over")
        except Exception as error:
            log.exception("turn failed", failures=turn.failures + 1)
            await self._failed(turn, error)
        finally:
            more = more or not self.free
            if self._tasks.get(turn.turn_id) is asyncio.current_task():
                del self._tasks[turn.turn_id]
                del self._turns[turn.turn_id]
                self.runs.remove(turn.turn_id)
            if more:
                self._wake.set()

    async def _run(self, turn: ClaimedTurn) -> bool:
        """One claimed turn, from its updates to its delivered reply. Returns whether its lane has more to do."""
        if not turn.updates:  # a command at a terminal, whose process ended before it was done
            return await self._deliver(turn, [])
        chat, topic_id, message_id = lane_of(turn)
        if query := updates_of(turn)[0].callback_query:
            topic_id = await topic_pressed(query, self.bot, self.store)
        structlog.contextvars.bind_contextvars(chat_id=chat.id, topic_id=topic_id)
        place = Place(chat.id, topic_id, chat.private, message_id)
        role = self._services.people.role_of(turn)
        if turn.status != "answered" and (not served(turn, role) or silenced(turn, self.bot, role == "admin")):
            return await self._deliver(turn, [])
        run = Run(turn, chat.id, topic_id, message_id)
        if turn.kind == "control":
            if turn.status == "answered":
                handled = Handled(await self._stored_parts(turn, place), self._space_of(turn, chat))
            else:
                handled = await self._controls.handle(turn)
            if any(part.request.keys() & {"say", "export"} for part in handled.parts):
                self.runs.add(run)  # what takes its time can be stopped
            return await self._deliver(turn, handled.parts, run.stop, self._readers(turn, chat, handled.space))
        self.runs.add(run)
        if turn.status == "answered":
            readers = self._readers(turn, chat, self._space_of(turn, chat))
            return await self._deliver(turn, await self._stored_parts(turn, place), run.stop, readers)
        while True:
            understood = await understand(turn, self.bot, self.groups, self.messenger, self.store)
            if understood.wanted:
                understood = with_model(understood, self._services, role == "admin")
            if understood.verb is not None:
                handled = await self._controls.handle(turn)
                return await self._deliver(turn, handled.parts, None, self._readers(turn, chat, handled.space))
            if understood.notice is not None or understood.incoming is None:
                shows = Space("private", owner_id=turn.user_id) if understood.changes else None
                return await self._deliver(turn, notice_parts(understood), None, self._readers(turn, chat, shows))
            incoming = replace(understood.incoming, operator=role == "admin" and understood.place.private)
            readers = self._readers(turn, chat, incoming.space)
            try:
                told = await self._answered(run, incoming, understood.place, readers)
                if told is not None:
                    parts = await self._parts(told, understood.place, turn.turn_id)
                    stop = None if told.note.endswith(STOPPED) else run.stop
                    return await self._deliver(run.turn, parts, stop, readers)
            except TurnUndone as error:
                log.warning("turn begins again", error=str(error))
            run.join.clear()
            run.turn = turn = await self.store.absorb(turn)
            if turn.status == "answered":
                return await self._deliver(turn, await self._stored_parts(turn, understood.place), run.stop, readers)

    def _space_of(self, turn: ClaimedTurn, chat: Chat) -> Space:
        """The space that a stored reply was made from."""
        if turn.owner_id is not None:
            return Space("private", owner_id=turn.owner_id)
        return Space("group", chat_id=chat.id)

    def _readers(self, turn: ClaimedTurn, chat: Chat, space: Space | None) -> Readers:
        """What tells whether a reply made from this space may still be shown in the chat. None: it is for everybody."""
        if space is None or chat.private:
            return everywhere
        lent = turn.linked_to == turn.user_id
        return lambda: self.groups.may_read(chat, turn.user_id, space, lent)

    async def _answered(self, run: Run, incoming: Incoming, place: Place, readers: Readers) -> Answer | None:
        """The answer to an input; None when something that belongs to it arrived meanwhile."""
        log.debug("heard", text=incoming.text)
        preview = Preview(
            self.messenger, self.store, run.turn, self.bot.id, place, self._no_drafts, incoming.replaces, readers
        )
        async with preview:
            work = asyncio.create_task(self._read_and_answered(run, incoming, place, preview))
            joined = asyncio.create_task(run.join.wait())
            try:
                await asyncio.wait({work, joined}, return_when=asyncio.FIRST_COMPLETED)
                told = await work if work.done() else None
            finally:
                joined.cancel()
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
        if told is not None and not run.stop.is_set():
            await preview.settle(run.stop)
        log.debug("answered", text=told.text if told else None)
        return told

    async def _read_and_answered(self, run: Run, incoming: Incoming, place: Place, preview: Preview) -> Answer:
        """The answer to an input whose files are read first. Of one that holds nothing to use, just that is said."""
        read = await wait_or_cancel(
            run.stop, filled(incoming, self._reader, self._echoes.of(run.turn, incoming, place))
        )
        if read is None:
            return Answer("", note=STOPPED)
        if read.notices and not is_usable(read):
            return Answer("\n\n".join(map(escape_markdown, read.notices)), choices=Choices(sound=False))
        told = await answer(self.engine, read, preview, run.stop)
        run.turn = replace(run.turn, status="answered")
        return told

    async def _stored_parts(self, turn: ClaimedTurn, place: Place) -> list[Part]:
        """The parts of a reply that a predecessor left stored."""
        if turn.answer is None:
            return list(turn.parts)
        alone = place.private and len(turn.updates) < 2
        return await self._parts(turn.answer, replace(place, reply_to=None) if alone else place, turn.turn_id)

    async def _parts(self, told: Answer, place: Place, turn_id: int) -> list[Part]:
        """An answer as parts to send; nothing is said aloud where nothing can be."""
        told = told if self._services.speaks else replace(told, aloud=False)
        return await unhurried(lambda _: answer_parts(told, place, turn_id), told.text)

    async def _deliver(
        self,
        turn: ClaimedTurn,
        parts: list[Part],
        stop: asyncio.Event | None = None,
        readers: Readers = everywhere,
    ) -> bool:
        done = await self._delivery.deliver(turn, parts, stop, readers)
        if done.owed:
            self._on_owed(done.owed)
        if done.refused:
            await tell_trouble(self._services, turn, UNDELIVERED, f"was answered, but not all arrived: {done.refused}")
        return done.more

    async def _failed(self, turn: ClaimedTurn, error: Exception) -> None:
        """Puts a turn off; the third time it is set aside, and said so."""
        # An error that is not ours may quote the message it failed on.
        sentence = type(error).__name__ + (f": {redact(str(error))}" if isinstance(error, RelayError) else "")
        try:
            if not await self.store.fail(turn, sentence, 2.0 ** (turn.failures + 1)):
                return
        except RelayError as lost:
            log.warning("failure not recorded", error=str(lost))
            return
        metrics.SET_ASIDE.inc()
        await tell_trouble(self._services, turn, APOLOGY, f"was set aside after failing three times: {sentence}")
