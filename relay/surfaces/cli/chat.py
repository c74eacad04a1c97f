"""Talking to the bot at a terminal: what is typed is an update, what it sends is printed. The path is the same."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from relay.clients.embedded.account import make_directory
from relay.clients.fakes import OfflineModel
from relay.core.errors import RelayError
from relay.core.ports import Embedder
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.memory.indexing import EmbedderRouter, Indexer, enter, keep_fresh
from relay.memory.people import People
from relay.memory.query_vectors import LOADING_SECONDS
from relay.memory.review.judging import judge_due
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import summarise_due
from relay.memory.writing.titles import Titler, title_due
from relay.runtime.app import Relay, make_gate, make_judge, make_model, make_summariser, open_relay
from relay.runtime.embedder_router import open_embedder
from relay.surfaces.chat.changes import NONE
from relay.surfaces.chat.handlers import CONFIRMING
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.cli.keyboard import typed
from relay.surfaces.cli.terminal_messenger import Terminal
from relay.surfaces.telegram.assembly import make_worker
from relay.surfaces.telegram.parsing.updates import Bot, sort_update
from relay.surfaces.telegram.turns.announcements import Teller, tell_due
from relay.surfaces.telegram.turns.worker import Worker

ME = Bot(0, "relay")
"""The terminal's own bot: its lanes are its own, so a bot that runs beside it leaves them alone."""
INTRO = "Type a message; /help lists commands, /press N presses a button, an empty line or Ctrl-D ends."
LAST_SECONDS = 5.0
"""How long leaving waits for judging, which may have a whole import before it."""
WRITING_SECONDS = 20.0
"""How long it waits for summaries and titles; one that is cut off is written the next time, or by the bot."""
AT_ONCE_SECONDS = 0.5
WRITING = "One moment, what was said here is being summed up. Ctrl-C leaves at once; then that is done another time."
OFFLINE = "OFFLINE: a stand-in answers, not a model. It has a memory of its own; write “I like …”, and it keeps that."
NAMELESS = "User"
PRESS = "Which button? A number, or an empty line to end: "


class NotAnswered(RelayError):
    """A command asked something, and nobody answered."""


Work = Callable[[], Awaitable[int]]


class Desk:
    """One person at a terminal, in a private chat of their own (chat 0) with their own memory."""

    def __init__(
        self,
        user_id: int,
        name: str,
        terminal: Terminal,
        worker: Worker,
        store: Store,
        embedder: EmbedderRouter | None = None,
    ) -> None:
        self._user_id = user_id
        self._user = {"id": self._user_id, "first_name": name}
        self._terminal = terminal
        self.refused = False
        """Whether the last command was not done."""
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

    @property
    def confirming(self) -> int:
        """The number of the button that says yes to what is asked; 0: nothing is."""
        kinds = [data.split(":")[0] for _, data, _ in self._terminal.buttons]
        return next((i for i, kind in enumerate(kinds, 1) if kind in CONFIRMING), 0)

    def number_of(self, label: str) -> int:
        """The number of the button of that name; 0: there is none."""
        return next((i for i, (name, _, _) in enumerate(self._terminal.buttons, 1) if name == label), 0)

    def take(self, told: CommandReply) -> None:
        """Notes what became of a command."""
        self.refused = told.refused or bool(told.failed and not told.changes)

    async def typed(self, prompt: str) -> str:
        """A line from the keyboard; what goes on meanwhile is told when it is there."""
        if not sys.stdin.isatty():
            return await typed(prompt)
        with self._terminal.held():
            return await typed(prompt)

    async def say(self, text: str) -> None:
        """Hands a line to the queue and waits until it is answered; Ctrl-C stops the answer."""
        chat = {"id": 0, "type": "private"}
        message_id = self._terminal.next_id()
        update: dict[str, Any] = {"update_id": message_id}
        word, _, number = text.partition(" ")
        if word == "/search" or not word.startswith("/"):
            await self._load()
        self.refused = False
        if word == "/press":
            if not number.isdecimal() or not 0 < int(number) <= len(self._terminal.buttons):
                print("There is no such button.")
                self.refused = True
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
async def _desk(
    settings: Settings, stand_in: OfflineModel | None = None, writes: bool = False, one: bool = False
) -> AsyncIterator[Desk]:
    """The terminal's desk, with a stand-in for the model where there is one. `writes`: what is due is done at it, and
    the vectors kept fresh. `one`: for one command of the shell."""
    terminal = Terminal(settings, is_attended() or not one, one)
    async with open_embedder(settings) as embedder, open_relay(settings) as relay:
        model = stand_in or make_model(settings)
        gate = make_gate(relay, model)
        works, judged = _writing(relay, gate, terminal, embedder) if writes else ([], None)
        jobs: set[asyncio.Task[Any]] = set()
        judging: set[asyncio.Task[Any]] = set()
        everybody = People(settings.admins)
        await everybody.refresh(relay.store)
        owner = everybody.owner
        people = People(settings.admins, settings.users, settings.pairing, desk=owner)

        def write_soon(_: Sequence[str]) -> None:
            """What was said is entered and what is due is written now; what a stand-in says is nobody's summary."""
            if not jobs:
                for work in (lambda: enter(relay.store), *works):
                    jobs.add(task := asyncio.ensure_future(work()))
                    task.add_done_callback(jobs.discard)
            if judged and not judging:
                judging.add(task := asyncio.ensure_future(judged()))
                task.add_done_callback(judging.discard)

        def take(told: object) -> None:
            if isinstance(told, CommandReply):
                desk.take(told)

        worker = make_worker(relay, gate, terminal, ME, people, write_soon, embedder=embedder, on_told=take)
        desk = Desk(owner, await relay.store.name_of(owner) or NAMELESS, terminal, worker, relay.store, embedder)
        fresh = asyncio.create_task(keep_fresh(Indexer(relay.store, embedder))) if embedder and writes else None
        try:
            yield desk
        finally:
            await worker.close(1)
            await cut_short(jobs, WRITING_SECONDS, WRITING)
            await cut_short(judging, LAST_SECONDS)
            if fresh:
                fresh.cancel()
                await asyncio.gather(fresh, return_exceptions=True)
            await model.close()


def is_attended() -> bool:
    """Whether somebody sits at this terminal who sees what is printed and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


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


async def once(settings: Settings, text: str, sure: bool = False) -> bool:
    """One command, answered and printed; returns whether it was done. Who sits at the terminal may press its buttons
    then. `sure`: yes is the answer to what it asks. Raises `NotAnswered`."""
    async with _desk(settings, one=True) as desk:
        await desk.say(text)
        if desk.asks and not sys.stdin.isatty():
            await desk.say(await _piped())
        if sure and desk.confirming:
            await desk.say(f"/press {desk.confirming}")
            return not desk.refused
        while is_attended() and (desk.asks or desk.buttons):
            line = await typed("› " if desk.asks else PRESS)
            if not line:
                break
            await desk.say(line if desk.asks else f"/press {line}")
        if desk.confirming:
            raise NotAnswered("Nothing was done. With --yes it is.")
        if none := desk.number_of(NONE):
            await desk.say(f"/press {none}")
            raise NotAnswered(
                f"Several fit, so nothing was forgotten. Name one by its number, which `{RELAY} memory show` with the "
                f"same words tells; or all of them with a *: `{RELAY} forget '*words*' --yes`."
            )
        return not desk.refused


async def _piped() -> str:
    """All of the standard input: the answer to a question. Raises `NotAnswered` when there is nothing in it."""
    text = str(await asyncio.to_thread(sys.stdin.read)).strip()
    if not text:
        raise NotAnswered("Nothing was done: this asks for a text. Hand it in, such as with < FILE.")
    return text


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a command: the lines that it printed, and whether it was done."""

    said: list[str]
    done: bool


async def heard(settings: Settings, text: str, sure: bool = False) -> Heard:
    """The same without printing anything, for programs."""
    printed, done = io.StringIO(), False
    with contextlib.redirect_stdout(printed):
        try:
            done = await once(settings, text, sure)
        except NotAnswered as error:
            print(error)
    return Heard([line for line in printed.getvalue().splitlines() if line], done)


async def chat(settings: Settings, offline: bool) -> None:
    """A conversation on the terminal. `offline`: with a stand-in for the model, in a memory of its own."""
    where, stand_in = (apart(settings), OfflineModel()) if offline else (settings, None)
    async with _desk(where, stand_in, writes=not offline) as desk:
        print(INTRO)
        if offline:
            print(OFFLINE)
        while True:
            line = await desk.typed("\nyou › ")
            if not line:
                return
            await desk.say(line)


def apart(settings: Settings) -> Settings:
    """The settings with a database of its own, beside the one they name: what is tried out stays out of that.

    Raises `SettingsError` for a data directory that cannot be used."""
    make_directory(settings.data_dir, "RELAY_DATA_DIR")
    own = {"data_dir": settings.data_dir / "offline", "database_url": "", "supabase_url": ""}
    return settings.model_copy(update={**own, "supabase_service_role_key": ""})
