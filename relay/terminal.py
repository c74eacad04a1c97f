"""Talking to the bot at a terminal: what is typed is an update, what it sends is printed. The path is the same."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any

from relay.app import Relay, make_gate, make_judge, make_model, make_summariser, make_worker, opened
from relay.bot.telling import Teller, tell_due
from relay.bot.updates import Bot, sort_update
from relay.bot.worker import Worker
from relay.capture.judging import judge_due
from relay.embedders import finding
from relay.gate import Gate
from relay.indexing import Asked, Indexer, enter, keep_fresh
from relay.jobs import summarise_due
from relay.keyboard import typed
from relay.memory.meaning import LOADING_SECONDS
from relay.memory.people import People
from relay.memory.store import Store
from relay.ports import Embedder
from relay.screen import Terminal
from relay.settings import Settings
from relay.testing import OfflineModel
from relay.titles import Titler, title_due

ME = Bot(0, "relay")
"""The terminal's own bot: its lanes are its own, so a bot that runs beside it leaves them alone."""
INTRO = "Type a message; /help lists commands, /press N presses a button, an empty line or Ctrl-D ends."
LAST_SECONDS = 5.0
"""How long leaving waits for judging, which may have a whole import before it."""
WRITING_SECONDS = 20.0
"""How long it waits for summaries and titles; one that is cut off is written the next time, or by the bot."""
AT_ONCE_SECONDS = 0.5
WRITING = "One moment, what was said here is being summed up. Ctrl-C leaves at once; then that is done another time."
PRESS = "Which button? A number, or an empty line to end: "


Work = Callable[[], Awaitable[int]]


class Desk:
    """One person at a terminal, in a private chat of their own (chat 0) with their own memory."""

    def __init__(
        self, user_id: int, terminal: Terminal, worker: Worker, store: Store, embedder: Asked | None = None
    ) -> None:
        self._user_id = user_id
        self._user = {"id": self._user_id, "first_name": "You"}
        self._terminal = terminal
        self._worker = worker
        self._store = store
        self._embedder = embedder

    @property
    def asks(self) -> bool:
        """Whether the next line answers a question."""
        return self._terminal.asking is not None

    @property
    def buttons(self) -> bool:
        """Whether there is something to press."""
        return bool(self._terminal.buttons)

    async def say(self, text: str) -> None:
        """Hands a line to the queue and waits until it is answered; Ctrl-C stops the answer."""
        chat = {"id": 0, "type": "private"}
        message_id = self._terminal.next_id()
        update: dict[str, Any] = {"update_id": message_id}
        word, _, number = text.partition(" ")
        if word == "/search" or not word.startswith("/"):
            await self._load()
        if word == "/press":
            if not number.isdecimal() or not 0 < int(number) <= len(self._terminal.buttons):
                print("There is no such button.")
                return
            _, data, under = self._terminal.buttons[int(number) - 1]
            message = {"message_id": under, "chat": chat}
            update["callback_query"] = {"id": str(message_id), "from": self._user, "data": data, "message": message}
        else:
            update["message"] = {
                "message_id": message_id,
                "date": int(time.time()),
                "chat": chat,
                "from": self._user,
                "text": text,
            }
            asking, self._terminal.asking = self._terminal.asking, None
            if asking is not None and not text.startswith("/"):
                update["message"]["reply_to_message"] = {**asking, "from": {"id": ME.id}, "chat": chat}
        row = sort_update(update, ME, frozenset({self._user_id}), True)
        self._worker.accept(*await self._store.intake(ME.id, [row], self._worker.free))
        working = asyncio.create_task(self._worker.run())
        try:
            await self._worker.settled()
        except asyncio.CancelledError:
            self._worker.runs.stop(0, 0)
            raise
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def _load(self) -> None:
        """What finds by meaning is waited for before something is looked for the first time."""
        if self._embedder is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOADING_SECONDS):
                    await self._embedder.preload()


def _writing(relay: Relay, gate: Gate, terminal: Terminal, embedder: Embedder | None) -> tuple[list[Work], Work]:
    """What makes the summaries and titles that are due and tells what was learned; and what judges what was said."""
    summariser = make_summariser(relay, gate)
    titler = Titler(relay.store, gate, relay.settings.small_model, terminal, ME.id)
    teller = Teller(relay.store, terminal, ME.id)
    judge = make_judge(relay, gate, embedder, lambda: tell_due(teller))
    works: list[Work] = [lambda: summarise_due(summariser), lambda: title_due(titler), lambda: tell_due(teller)]
    return works, lambda: judge_due(judge)


@contextlib.asynccontextmanager
async def _desk(settings: Settings, offline: bool = False, writes: bool = False) -> AsyncIterator[Desk]:
    """The terminal's desk. `writes`: what is due is done at it, and the vectors kept fresh."""
    terminal = Terminal(settings)
    async with finding(settings) as embedder, opened(settings) as relay:
        model = OfflineModel() if offline else make_model(settings)
        gate = make_gate(relay, model)
        works, judged = _writing(relay, gate, terminal, embedder) if writes else ([], None)
        jobs: set[asyncio.Task[Any]] = set()
        judging: set[asyncio.Task[Any]] = set()
        everybody = People(settings.admins)
        await everybody.refresh(relay.store)
        owner = everybody.owner
        people = People(settings.admins, settings.users, settings.pairing, desk=owner)

        def write_soon() -> None:
            """What was said is entered and what is due is written now; what a stand-in says is nobody's summary."""
            if not jobs:
                for work in (lambda: enter(relay.store), *works):
                    jobs.add(task := asyncio.ensure_future(work()))
                    task.add_done_callback(jobs.discard)
            if judged and not judging:
                judging.add(task := asyncio.ensure_future(judged()))
                task.add_done_callback(judging.discard)

        worker = make_worker(relay, gate, terminal, ME, people, write_soon, embedder=embedder)
        fresh = asyncio.create_task(keep_fresh(Indexer(relay.store, embedder))) if embedder and writes else None
        try:
            yield Desk(owner, terminal, worker, relay.store, embedder)
        finally:
            await worker.close(1)
            await cut_short(jobs, WRITING_SECONDS, WRITING)
            await cut_short(judging, LAST_SECONDS)
            if fresh:
                fresh.cancel()
                await asyncio.gather(fresh, return_exceptions=True)
            await model.close()


async def cut_short(work: Collection[asyncio.Task[Any]], seconds: float, line: str = "") -> None:
    """Ends work that goes on beside the conversation: it gets so many seconds, and waits on then. `line`: what is
    printed when that is not done at once."""
    tasks = list(work)
    for limit, said in ((AT_ONCE_SECONDS, line), (seconds, "")):
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=limit)
            tasks = list(left)
        if tasks and said:
            print(said, flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def once(settings: Settings, text: str, sure: bool = False) -> None:
    """One command, answered and printed. Somebody at a terminal may press its buttons then; `sure`: the first is."""
    async with _desk(settings) as desk:
        await desk.say(text)
        if sure and desk.buttons:
            await desk.say("/press 1")
            return
        while sys.stdin.isatty() and (desk.asks or desk.buttons):
            line = await typed("› " if desk.asks else PRESS)
            if not line:
                return
            await desk.say(line if desk.asks else f"/press {line}")


async def heard(settings: Settings, text: str, sure: bool = False) -> list[str]:
    """One command; the lines that are told to it, printed nowhere. `sure`: its first button is pressed."""
    printed = io.StringIO()
    async with _desk(settings) as desk:
        with contextlib.redirect_stdout(printed):
            await desk.say(text)
            if sure and desk.buttons:
                await desk.say("/press 1")
    return [line for line in printed.getvalue().splitlines() if line]


async def chat(settings: Settings, offline: bool) -> None:
    """A conversation on the terminal."""
    async with _desk(settings, offline, writes=not offline) as desk:
        print(INTRO)
        if offline:
            print("OFFLINE: a stand-in answers, not a model.")
        while True:
            line = await typed("\nyou › ")
            if not line:
                return
            await desk.say(line)
