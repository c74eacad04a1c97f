"""`relay chat`: typed messages are queued and answered like all messages. Commands and buttons run at once."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from relay.clients.embedded.account import make_directory
from relay.clients.offline import OfflineModel
from relay.core.frozen import frozen
from relay.core.settings import Settings
from relay.core.tasks import cancel, run_beside
from relay.jobs.learning import judging_kind
from relay.jobs.runner import Runner
from relay.jobs.writing import summary_kind, title_kind
from relay.memory.index import EmbedderRouter, Indexer, enter, keep_fresh
from relay.memory.rows.turns.inbox import InboxRow
from relay.memory.store import Store
from relay.runtime.runtime import Runtime, open_runtime
from relay.runtime.services import make_services
from relay.runtime.storage import say_if_slow
from relay.surfaces.chat.turn_buttons import is_turn_button
from relay.surfaces.cli.terminal.desk import BOT, HERE, WAITING, Desk
from relay.surfaces.cli.terminal.keyboard import read_line
from relay.surfaces.cli.terminal.messenger import Terminal
from relay.surfaces.cli.terminal.once import load_embedder, seat_owner
from relay.surfaces.telegram.assembly import make_worker
from relay.surfaces.telegram.groups.groups import make_connection
from relay.surfaces.telegram.parsing.objects import decode_update
from relay.surfaces.telegram.parsing.sorting import sort_update
from relay.surfaces.telegram.turns.worker import Worker

IN_LANE = ("/retry", "/two")
"""Commands that run as turns, like messages."""
INTRO = "Type a message; /help lists commands, /press N presses a button, an empty line or Ctrl-D ends."
LAST_SECONDS = 5.0
"""How long to wait for judging at the end. A whole import may be waiting to be judged."""
WRITING_SECONDS = 20.0
"""How long to wait for summaries and titles at the end; unfinished ones are written later."""
AT_ONCE_SECONDS = 0.5
BUSY_SECONDS = 60.0
"""How long to wait while nothing runs here: another process answers in this conversation, or was killed doing so."""
BUSY = (
    "Another terminal seems to be answering in this conversation. Your message is saved: I'll answer it when you write "
    "again."
)
WRITING = "One moment, I'm summarising this conversation. Press Ctrl-C to leave now; I'll do it another time."
OFFLINE = (
    "OFFLINE: a stand-in answers instead of a model. It has its own memory: write “I like …” and it remembers that."
)


Work = Callable[[], Awaitable[int]]


@frozen
class Conversation:
    """Runs typed lines: messages are queued and answered like all messages, commands and buttons run at once."""

    user_id: int
    name: str
    terminal: Terminal
    worker: Worker
    desk: Desk
    store: Store
    embedder: EmbedderRouter | None = None

    @property
    def _user(self) -> dict[str, Any]:
        return {"id": self.user_id, "first_name": self.name}

    async def read_line(self, prompt: str) -> str:
        """Reads a line from the keyboard; anything printed meanwhile appears afterwards."""
        if not sys.stdin.isatty():
            return await read_line(prompt)
        with self.terminal.hold_back():
            return await read_line(prompt)

    async def say(self, text: str) -> None:
        """Runs a line and waits until it is done; Ctrl-C stops an answer."""
        word, _, rest = text.partition(" ")
        if word == "/search" or not word.startswith("/"):
            await load_embedder(self.embedder)
        if word == "/press":
            await self._press(int(rest) if rest.isdecimal() else 0)
        elif word.startswith("/") and word not in IN_LANE:
            await self.desk.command(word[1:].partition("@")[0].lower(), rest)
        elif self.desk.asks and not word.startswith("/"):
            await self.desk.answer(text)
        else:
            self.terminal.asking = None
            await self._send({"message": self._message() | {"text": text}})

    async def _press(self, number: int) -> None:
        """Presses a button. A button that asks for another answer runs as a turn."""
        data = self.terminal.buttons[number - 1][1] if 0 < number <= len(self.terminal.buttons) else ""
        if not is_turn_button(data):
            await self.desk.press(number)
            return
        message = self._message() | {"message_id": self.terminal.buttons[number - 1][2]}
        await self._send({"callback_query": {"id": "0", "from": self._user, "data": data, "message": message}})

    def _message(self) -> dict[str, Any]:
        chat = {"id": HERE.chat_id, "type": "private"}
        return {"message_id": self.terminal.next_id(), "date": int(time.time()), "chat": chat, "from": self._user}

    async def _send(self, update: dict[str, Any]) -> None:
        """Queues an update and waits until it is answered, after those that an earlier process left unanswered."""
        received = decode_update({"update_id": self.terminal.next_id(), **update})
        # A line is never only the first part of a message.
        row = replace(sort_update(received, BOT, frozenset({self.user_id}), True), hold=0.0)
        with say_if_slow(WAITING):
            due = await self.store.intake(BOT.id, [row], self.worker.free)
        self.worker.accept(*due)
        async with run_beside(self.worker.run()) as working, run_beside(self._wait_for_answer(row)) as answering:
            try:
                await asyncio.wait([answering, working], return_when=asyncio.FIRST_COMPLETED)
                await self.worker.wait_until_idle()
                await (answering if answering.done() else working)
            except TimeoutError:
                print(BUSY, flush=True)
            except asyncio.CancelledError:
                self.worker.runs.stop(HERE.chat_id, HERE.topic_id)
                raise

    async def _wait_for_answer(self, row: InboxRow) -> None:
        """Waits until an update, and what came before it, is answered. Raises `TimeoutError` if nothing runs here for
        `BUSY_SECONDS` before that."""
        await self.worker.wait_until_idle()
        while row.kind == "turn" and not self.worker.has_claimed(row.update_id):
            async with asyncio.timeout(BUSY_SECONDS):
                await self.worker.wait_for_claim()
            await self.worker.wait_until_idle()


def _make_background_work(relay: Runtime, send_queued: Callable[[], Awaitable[object]]) -> tuple[list[Work], Work]:
    """Returns the work that writes due summaries and titles, and the work that judges messages and reports results."""
    summariser = relay.make_summariser(relay.gate)
    judging = judging_kind(relay.make_judge(relay.gate, relay.clients.embedder, send_queued))
    writing = [summary_kind(summariser), title_kind(summariser)]
    runner = Runner(relay.store, [*writing, judging], BOT.id)
    return [partial(runner.run_due, kind.name) for kind in writing], partial(runner.run_due, judging.name)


@contextlib.asynccontextmanager
async def _conversation(settings: Settings, stand_in: OfflineModel | None = None) -> AsyncIterator[Conversation]:
    """Opens a conversation, with a model or a `stand_in` for it. With a model, also runs due work in the background and
    keeps the vectors up to date; a stand-in writes no summaries."""
    terminal = Terminal(settings)
    async with open_runtime(settings, model=stand_in) as relay:
        works, judged = ([], None) if stand_in else _make_background_work(relay, lambda: worker.claim())
        jobs: set[asyncio.Task[Any]] = set()
        judging: set[asyncio.Task[Any]] = set()

        def write_soon(_: Sequence[str] = ()) -> None:
            """Indexes new messages, and starts the due work now."""
            if not jobs:
                for work in (lambda: enter(relay.store), *works):
                    jobs.add(task := asyncio.ensure_future(work()))
                    task.add_done_callback(jobs.discard)
            if judged and not judging:
                judging.add(task := asyncio.ensure_future(judged()))
                task.add_done_callback(judging.discard)

        owner, name = await seat_owner(relay)
        services = make_services(relay, terminal, BOT.id)
        worker = make_worker(relay, services, make_connection(terminal, BOT), write_soon)
        stop = partial(worker.runs.stop, HERE.chat_id, HERE.topic_id)
        desk = Desk(services, terminal, owner, name, lambda: bool(stop()), write_soon)
        embedder = relay.clients.embedder
        fresh = asyncio.create_task(keep_fresh(Indexer(relay.store, embedder))) if embedder and not stand_in else None
        try:
            yield Conversation(owner, name, terminal, worker, desk, relay.store, embedder)
        finally:
            await end_work(jobs, WRITING_SECONDS, WRITING)
            await end_work(judging, LAST_SECONDS)
            await worker.close(1)
            if fresh:
                await cancel(fresh)


async def end_work(work: Collection[asyncio.Task[Any]], seconds: float, line: str = "") -> None:
    """Waits for background work at most about `seconds`, and cancels the rest, which is done later. `line`: printed if
    the work is not done at once."""
    tasks = list(work)
    for limit, said in ((AT_ONCE_SECONDS, line), (seconds, "")):
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=limit)
            tasks = list(left)
        if tasks and said:
            print(said, flush=True)
    await cancel(*tasks)


async def chat(settings: Settings, offline: bool) -> None:
    """Runs a conversation on the terminal. `offline`: with a stand-in for the model and a separate memory."""
    where, stand_in = (use_own_database(settings), OfflineModel()) if offline else (settings, None)
    async with _conversation(where, stand_in) as conversation:
        print(f"{INTRO}\n{OFFLINE}" if offline else INTRO, flush=True)
        while True:
            line = await conversation.read_line("\nyou › ")
            if not line:
                return
            await conversation.say(line)


def use_own_database(settings: Settings) -> Settings:
    """Returns the settings with a separate database in the data directory, so that experiments stay out of the
    configured one. They name no bot, because the bot would not know this memory.

    Raises `SettingsError` if the data directory cannot be used."""
    make_directory(settings.data_dir, "RELAY_DATA_DIR")
    own = {"data_dir": settings.data_dir / "offline", "database_url": "", "supabase_url": ""}
    return settings.model_copy(update={**own, "supabase_service_role_key": "", "telegram_bot_token": ""})
