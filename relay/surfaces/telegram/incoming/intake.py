"""Stores incoming updates before they are acknowledged to Telegram."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import structlog

from relay.core import metrics
from relay.core.errors import DatabaseError, DataRefused, MessengerError, OtherVersion, SchemaError
from relay.core.ports import Messenger
from relay.jobs.watch.alerts import say_unstored
from relay.memory.people import People
from relay.memory.retrying_database import OTHER_VERSION, SCHEMA_SECONDS
from relay.memory.rows.turns.inbox import Asking, InboxRow
from relay.memory.store import Store
from relay.surfaces.telegram.parsing.objects import Message, RawUpdate, Update, decode_update
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.sorting import sort_update
from relay.surfaces.telegram.parsing.updates import chat_of, is_addressed, message_of, topic_of
from relay.surfaces.telegram.turns.worker import Worker

log = structlog.get_logger()

OUTAGE_SECONDS = 2.0
"""A database outage shorter than this is not announced."""
MOST_WAVED = 20
"""The most presses by strangers to answer at a time."""
OUTAGE = "⚠️ My database is unavailable right now. Your message is safe; I'll answer as soon as the database is back."


class Intake:
    """Stores updates and runs the turns they make due. It does not wait for an unavailable database: its caller waits,
    and each chat gets a notice."""

    def __init__(self, store: Store, messenger: Messenger, worker: Worker, people: People) -> None:
        self._store = store
        self._messenger = messenger
        self._worker = worker
        self._people = people
        self._told: set[tuple[int, int]] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._trouble_since = 0.0

    async def take(self, received: Sequence[RawUpdate]) -> None:
        """Stores updates, each with an `update_id`. Raises `DatabaseError` if they are not stored and must be sent
        again; `OtherVersion` if that won't change."""
        begun = time.monotonic()
        updates, rows = [], []
        for raw in received:
            update, row = self._sort(raw)
            updates.append(update)
            rows.append(row)
        try:
            await self._store_rows(rows, [pair for update in updates if (pair := find_moved_group(update))])
        except DatabaseError as error:
            self._trouble_since = self._trouble_since or begun
            lasts = time.monotonic() - self._trouble_since
            if lasts >= OUTAGE_SECONDS:
                self._tell_outage(updates, rows)
            if isinstance(error, SchemaError) and lasts >= SCHEMA_SECONDS:
                raise OtherVersion(OTHER_VERSION.format("intake")) from error
            raise
        self._told.clear()
        self._trouble_since = 0.0
        self._wave_off(updates, rows)
        for row in rows:
            metrics.UPDATES.labels(row.kind).inc()
        for update, row in zip(updates, rows, strict=True):
            message = update.message
            if message and row.kind in ("turn", "overheard") and (row.mergeable or message.media_group_id):
                self._worker.runs.join(message, row.user_id or 0)

    def _wave_off(self, updates: list[Update], rows: list[InboxRow]) -> None:
        """Answers strangers' button presses silently; nothing is stored."""
        for update, row in zip(updates, rows, strict=True):
            strange = row.kind == "ignored" or not row.known
            if strange and update.callback_query and len(self._telling) < MOST_WAVED:
                self._tell(self._answer_stranger(row, update.callback_query.id))

    async def _answer_stranger(self, row: InboxRow, query_id: str) -> None:
        """Answers a press, unless the person may use the bot after all: then the button's handler answers."""
        with contextlib.suppress(MessengerError, DatabaseError):
            if row.kind != "ignored":
                await self._people.refresh(self._store)
                if row.user_id in self._people.allowed:
                    return
            await self._messenger.call("answerCallbackQuery", callback_query_id=query_id)

    def _tell(self, what: Coroutine[Any, Any, None]) -> None:
        """Runs something in the background."""
        telling = asyncio.create_task(what)
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

    async def _store_rows(self, rows: list[InboxRow], moved: list[tuple[int, int]]) -> None:
        """Stores rows together; if the database refuses them, one by one, so that a bad update blocks no other.

        `moved`: groups that have become another chat; their waiting turns run once they are moved.
        """
        worker = self._worker
        try:
            room = 0 if moved else min(worker.free, len(rows))
            turns, wait = await self._store.intake(worker.bot.id, rows, room, worker.running)
            for before, now in moved:
                await self._store.regroup(worker.bot.id, before, now)
            worker.accept(turns, wait)
        except DataRefused as error:
            if len(rows) > 1:
                for row in rows:
                    await self._store_rows([row], moved)
            elif rows[0].event != "unreadable":
                log.error("cannot store an update", update_id=rows[0].update_id, error=str(error))
                await self._store_rows([unreadable(rows[0].update_id, rows[0].known)], moved)
            else:
                raise

    def _sort(self, raw: RawUpdate) -> tuple[Update, InboxRow]:
        """Decodes an update and makes its row in the queue; an unreadable one becomes an ignored row."""
        try:
            update = decode_update(raw)
            return update, self._row(update)
        except Exception as error:
            log.warning("unreadable update", update_id=raw["update_id"], error=type(error).__name__)
            log.debug("unreadable update in full", update=raw, error=repr(error))
            return Update(raw["update_id"]), unreadable(raw["update_id"], False)

    def _row(self, update: Update) -> InboxRow:
        chat, message, groups = chat_of(update), message_of(update), self._worker.connection.groups
        if update.my_chat_member or message.new_chat_members or message.left_chat_member:
            groups.note_change(chat.id)
        if pair := find_moved_group(update):
            groups.note_move(pair[1])
        row = sort_update(update, self._worker.bot, self._people.named, groups.may_be_open(chat))
        return replace(row, start=self._check_asking(row.start), knock=self._check_asking(row.knock))

    def _check_asking(self, asking: Asking | None) -> Asking | None:
        owned, pairing = bool(self._people.named_admins), self._people.pairing
        return replace(asking, owned=owned, pairing=pairing) if asking else None

    def _tell_outage(self, updates: list[Update], rows: list[InboxRow]) -> None:
        """Tells each chat once, in the background, that its message for the bot waits."""
        for update, row in zip(updates, rows, strict=True):
            message = update.message
            if message is None or row.kind == "ignored" or row.user_id not in self._people.allowed:
                continue
            lane = (message.chat.id, topic_of(message))
            if lane not in self._told:
                self._told.add(lane)
                self._tell(self._say_outage(message, row.user_id or 0))

    async def _say_outage(self, message: Message, user_id: int) -> None:
        """Says that a message waits, unless it is for others in a group."""
        chat, topic_id = message.chat, topic_of(message)
        groups = self._worker.connection.groups
        if chat.private or is_addressed(message, self._worker.bot) or await groups.is_alone(chat, user_id):
            address = Place(chat.id, topic_id, chat.private).address()
            await say_unstored(self._messenger, chat.id, OUTAGE, address.get("message_thread_id", 0))
        else:
            self._told.discard((chat.id, topic_id))


def find_moved_group(update: Update) -> tuple[int, int] | None:
    """Returns a group's ids before and after it became a supergroup, if the update says so in either chat."""
    message = update.message
    if message is None or not message.chat.type:
        return None
    before, now = message.migrate_from_chat_id or message.chat.id, message.migrate_to_chat_id or message.chat.id
    return (before, now) if before != now else None


def unreadable(update_id: int, known: bool) -> InboxRow:
    """Returns the row of an update that cannot be read or stored: recognised if it is sent again, but never run."""
    return InboxRow(update_id, "ignored", known=known, event="unreadable")
