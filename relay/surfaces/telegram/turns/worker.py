"""The worker claims turns and runs each in its own task."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

import structlog

from relay.commands.context import Services
from relay.conversation.engine import Engine
from relay.core import metrics
from relay.core.errors import DatabaseError, OtherVersion, RelayError, TurnLost
from relay.core.frozen import frozen
from relay.core.ports import TextToSpeech
from relay.core.redaction.redact import redact
from relay.core.tasks import cancel, wait_for
from relay.media.reading import Reader
from relay.memory.calls.queue import FAILURES
from relay.memory.claims import ClaimedTurn
from relay.memory.store import Store
from relay.surfaces.telegram.groups.groups import Connection
from relay.surfaces.telegram.outgoing.delivery import Delivery
from relay.surfaces.telegram.outgoing.exports import Exports
from relay.surfaces.telegram.outgoing.sender import Sender
from relay.surfaces.telegram.turns import notices
from relay.surfaces.telegram.turns.controls import Controls
from relay.surfaces.telegram.turns.echo import Echoes
from relay.surfaces.telegram.turns.fair_queue import FairQueue
from relay.surfaces.telegram.turns.polling_lease import PollLease
from relay.surfaces.telegram.turns.running import RunningTurns
from relay.surfaces.telegram.turns.turn_runner import TurnRunner

log = structlog.get_logger()

IDLE_SECONDS = 5.0
"""The pause between claims while idle."""
BUSY_SECONDS = 2.0
"""The pause while answering: a /stop that another process received takes effect this soon."""
STANDBY_SECONDS = 2.5
"""The pause while waiting for the polling lease."""
KILLED = "The process ended each time, as it does when memory runs out."


@frozen
class TurnMedia:
    """The file reader and the voice of turns."""

    reader: Reader
    voice: TextToSpeech | None = None
    """None: no voice notes."""
    echo: str = "always"
    """Which voice notes get their transcript posted: always, long or off."""


class Worker:
    """Runs turns: many lanes at once, one turn at a time in each lane."""

    def __init__(
        self,
        engine: Engine,
        services: Services,
        connection: Connection,
        media: TurnMedia,
        on_owed: Callable[[Sequence[str]], None],
        concurrency: int,
    ) -> None:
        self.engine = engine
        self.store: Store = engine.store
        self.connection = connection
        self.bot = bot = connection.bot
        self.runs = RunningTurns()
        self.poll_lease = PollLease()
        self._services = services
        sender = Sender(
            engine.store,
            connection.messenger,
            bot.id,
            media.voice,
            lambda turn: services.people.role_of(turn) == "admin",
            Exports(engine.store, connection.messenger, services.installation.version, services.installation.scratch),
        )
        delivery = Delivery(sender, self._note_refusal)
        self.runner = TurnRunner(
            engine=engine,
            connection=connection,
            services=services,
            reader=media.reader,
            controls=Controls(services, connection, self.runs),
            delivery=delivery,
            echoes=Echoes(delivery, media.echo),
            runs=self.runs,
            on_owed=on_owed,
        )
        self._concurrency = concurrency
        self._queue = FairQueue(bot)
        self._on_owed = on_owed
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._turns: dict[int, ClaimedTurn] = {}
        self._wake = asyncio.Event()
        self._claiming = asyncio.Lock()
        self._next_at = 0.0
        self.closing = False
        self._newest = 0
        """The highest id of an update that was claimed here."""
        self._claimed = asyncio.Event()
        """Set when a turn is claimed here."""

    @property
    def free(self) -> int:
        """How many more turns can run."""
        messages = sum(turn.kind == "message" for turn in self._turns.values())
        return 0 if self.closing else max(0, self._concurrency - messages)

    @property
    def answering(self) -> bool:
        """Whether anyone waits for an answer."""
        return any(turn.kind == "message" for turn in self._turns.values())

    @property
    def running(self) -> list[int]:
        """The turns that run here."""
        return list(self._tasks)

    def has_claimed(self, update_id: int) -> bool:
        """Tests whether an update was claimed here. Later updates have higher ids."""
        return self._newest >= update_id

    async def wait_for_claim(self) -> None:
        """Waits until the next turn is claimed here."""
        self._claimed.clear()
        await self._claimed.wait()

    async def wait_until_idle(self) -> None:
        """Waits until no turn is running here."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    def accept(self, turns: list[ClaimedTurn], wait: float | None) -> None:
        """Runs claimed turns in the order of their updates. `wait`: seconds until more may be due.

        A process that is stopping runs none; it hands them back with the rest.
        """
        if self.closing:
            return
        for turn in sorted(turns, key=lambda turn: turn.updates[0]["update_id"] if turn.updates else 0):
            if turn.turn_id in self._tasks:
                if turn.fence < self._turns[turn.turn_id].fence:
                    continue  # an older claim that arrived late
                self._tasks[turn.turn_id].cancel()
            self._turns[turn.turn_id] = turn
            self._newest = max(self._newest, *(one["update_id"] for one in turn.updates), 0)
            self._claimed.set()
            self._tasks[turn.turn_id] = asyncio.create_task(self._run_guarded(turn), name=f"turn {turn.turn_id}")
        if wait is not None:
            self._next_at = min(self._next_at, time.monotonic() + wait)
            self._wake.set()

    async def run(self) -> None:
        """Claims until cancelled. Raises `OtherVersion`."""
        while True:
            self._wake.clear()
            pause = BUSY_SECONDS if self._tasks else STANDBY_SECONDS if self.poll_lease.waiting else IDLE_SECONDS
            self._next_at = time.monotonic() + pause
            try:
                await self.claim()
            except OtherVersion:
                raise
            except DatabaseError as error:
                log.error("cannot read the queue", error=str(error))
            await wait_for(self._wake, max(0.02, self._next_at - time.monotonic()))

    async def claim(self) -> None:
        """Claims due turns, renews the running ones, and cancels those that another process took over or stopped."""
        async with self._claiming:
            if self.closing and not self._tasks:
                return
            asked_at = time.monotonic()
            turns, news = await self.store.claim(self.bot.id, self.free, self.running)
        self.poll_lease.note_claim(news.polls, asked_at)
        for turn_id in news.lost:
            if turn_id in self._tasks:
                log.warning("turn taken over by another process", turn_id=turn_id)
                self._tasks[turn_id].cancel()
        for turn_id in news.stopped:
            self.runs.stop_on_request(turn_id)
        self.accept(turns, None)
        if news.owed:
            self._on_owed(news.owed)
        if news.wait is not None and self.free:
            self._next_at = min(self._next_at, time.monotonic() + news.wait)

    async def close(self, seconds: float) -> None:
        """Takes no more turns, gives the running ones time to finish, and hands the rest back."""
        self.closing = True
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)
        await cancel(*self._tasks.values())
        with contextlib.suppress(RelayError, TimeoutError):
            # A later claim would show this process as alive.
            async with asyncio.timeout(5), self._claiming:
                await self.store.release()

    async def _run_guarded(self, turn: ClaimedTurn) -> None:
        """Runs a turn; its lane goes on even if it fails."""
        structlog.contextvars.bind_contextvars(turn_id=turn.turn_id)
        metrics.STAGE_SECONDS.labels("queue").observe(turn.waited)
        more = True
        try:
            if turn.killed:
                log.error("the process died with this turn each time")
                await self._fail(turn, KILLED)
                return
            async with self._queue.place(turn) as waited:
                if waited and self.closing:
                    return  # handed back with the rest
                with metrics.count_turn(turn.kind):
                    more = await self.runner.run(turn)
            log.info("turn done", kind=turn.kind)
        except TurnLost:
            log.info("turn taken over")
        except Exception as error:
            log.exception("turn failed", failures=turn.failures + 1)
            await self._fail(turn, describe_cause(error))
        finally:
            more = more or not self.free
            if self._tasks.get(turn.turn_id) is asyncio.current_task():
                del self._tasks[turn.turn_id]
                del self._turns[turn.turn_id]
                self.runs.remove(turn.turn_id)
            if more:
                self._wake.set()

    async def _note_refusal(self, turn: ClaimedTurn, reason: str, gone: bool) -> None:
        """Queues notices about a reply, or a reminder, that Telegram refused. If a reminder's chat is gone, ends all of
        its reminders."""
        if turn.message is not None:
            await self.store.enqueue(self.bot.id, notices.describe_refused(turn, turn.message, reason))
            if gone:
                notes = await notices.describe_gone(self._services, turn.turn_id, turn.message.chat_id, reason)
                await self.store.end_reminders(turn.turn_id, notes)
        elif not gone:
            await self.store.enqueue(self.bot.id, await notices.describe_undelivered(self._services, turn, reason))

    async def _fail(self, turn: ClaimedTurn, cause: str) -> None:
        """Schedules a failed turn again; after the third failure it is set aside with a notice."""
        what = f"was set aside after failing {'five' if turn.killed else 'three'} times: {cause}"
        last = turn.killed or turn.failures + 1 >= FAILURES
        try:
            say = await notices.describe_trouble(self._services, turn, notices.APOLOGY, what) if last else []
            if not await self.store.fail(turn, cause, 2.0 ** (turn.failures + 1), say):
                return
        except RelayError as lost:
            log.warning("could not record the failure", error=str(lost))
            return
        metrics.SET_ASIDE.inc()


def describe_cause(error: Exception) -> str:
    """Names an error's kind, and quotes its text if it is one of Relay's: others may quote the message."""
    return type(error).__name__ + (f": {redact(str(error))}" if isinstance(error, RelayError) else "")
