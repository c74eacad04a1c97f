"""Adds what was learned after an answer was sent to the line under it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import structlog

from relay.core.errors import ChatGone, ChatMigrated, MessengerRefused
from relay.core.models import Rows
from relay.core.ports import Messenger
from relay.core.text import utf16_offsets
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.delivery import Announcement, Part, Request, ShownChanges, ToldReminder
from relay.memory.store import Store
from relay.surfaces.chat.changes import (
    DECIDES,
    asks_which,
    current_rows,
    former_lines,
    is_open,
    make_closed_row,
    memory_line,
    other_rows,
)
from relay.surfaces.chat.contexts.markers.weights import FORMER_KEPT, UNMARKED, kept_line
from relay.surfaces.chat.preferences.pages import DROPPED, FORMER_ACTING, describe_acting
from relay.surfaces.chat.reminders.dated import offer_rows, standing_offers
from relay.surfaces.chat.reminders.made import former_line, is_about, made_line, made_row, without_told
from relay.surfaces.telegram.formatting.format import format_reply, shorten
from relay.surfaces.telegram.formatting.split import LIMIT
from relay.surfaces.telegram.groups.groups import is_alone_with
from relay.surfaces.telegram.outgoing.insist import repeat_until_answered
from relay.surfaces.telegram.outgoing.redraw import start_edit
from relay.surfaces.telegram.outgoing.render import footer_of, message_parts
from relay.surfaces.telegram.outgoing.requests import inline_keyboard
from relay.surfaces.telegram.parsing.objects import buttons_in
from relay.surfaces.telegram.parsing.place import Place

log = structlog.get_logger()

EDITED = ("chat_id", "text", "entities", "link_preview_options", "reply_markup")


async def announce(
    store: Store, messenger: Messenger, bot_id: int, turn: ClaimedTurn, under_turn_id: int
) -> list[Part]:
    """Edits the line and its button into an answer's last message; safe to repeat. If that is impossible, returns a
    small silent message as the part that `turn` sends. If others have joined the group since, the line goes to the
    person's private chat. Reads the message again for each try: something may have been erased from it meanwhile."""
    return await repeat_until_answered(partial(_announce, store, messenger, bot_id, turn, under_turn_id))


async def _announce(
    store: Store, messenger: Messenger, bot_id: int, turn: ClaimedTurn, under_turn_id: int
) -> list[Part]:
    due = await store.announcement(under_turn_id)
    if due is None:
        return []
    request, shown = with_line(due), due.shown
    try:
        if await is_overheard(messenger, bot_id, due.owner_id, due.chat_id):
            return await announce_separately(store, turn, due, Place(due.owner_id or 0, 0, True))
        if shown is None or request is None:
            return await announce_separately(store, turn, due, Place(due.chat_id, due.topic_id, due.private))
        edit = {key: request[key] for key in EDITED if key in request}
        await start_edit(store, messenger, bot_id, due.chat_id, shown.message_id, edit)
    except MessengerRefused as error:
        if isinstance(error, ChatGone) and not isinstance(error, ChatMigrated):
            await store.record_announced(due.turn_id, None, None)
            return []
        log.info("announced in a separate message", under=due.turn_id, error=error.reason)
        return await announce_separately(store, turn, due, Place(due.chat_id, due.topic_id, due.private))
    await store.record_announced(due.turn_id, shown.seq, request)
    return []


async def is_overheard(messenger: Messenger, bot_id: int, owner_id: int | None, chat_id: int) -> bool:
    """Whether others can now read a group that held only its owner and the bot when the answer was sent. Raises
    `MessengerError` if Telegram can't be asked now."""
    if owner_id is None or chat_id >= 0:
        return False
    try:
        return not await is_alone_with(messenger.call, bot_id, chat_id, owner_id)
    except MessengerRefused:
        return True


async def correct(store: Store, messenger: Messenger, bot_id: int, turn_id: int) -> None:
    """Makes the messages of a turn say what has become of its changes to memory and of what it set; safe to repeat.
    Messages that Telegram no longer edits stay unchanged. Reads the messages again for each try."""
    await repeat_until_answered(partial(_correct, store, messenger, bot_id, turn_id))


async def _correct(store: Store, messenger: Messenger, bot_id: int, turn_id: int) -> None:
    found = await store.shown_changes(turn_id)
    if found is None:
        return
    for shown in found.messages:
        before = buttons_in(shown.request["reply_markup"])
        rows: Rows = without_told(before, found.answered)
        request = with_lines(shown.request, lines_of_others(found))
        if len(other_rows(rows, *DECIDES)) < len(rows):
            request = with_current_lines(request, found.changes)
            rows = standing_offers(current_rows(found.changes, turn_id, rows), found.changes)
        elif request == shown.request and rows == before:
            continue
        for one in list_told(found):
            rows = [made_row(one) if is_about(row, one.id) else row for row in rows]
        request = {**request, "reply_markup": inline_keyboard(rows)}
        edit = {key: request[key] for key in EDITED if key in request}
        if edit.items() <= shown.request.items():
            continue
        if await is_overheard(messenger, bot_id, found.owner_id, shown.chat_id):
            continue
        try:
            await start_edit(store, messenger, bot_id, shown.chat_id, shown.message_id, edit)
            await store.store_redrawn(bot_id, shown.chat_id, shown.message_id, edit)
        except MessengerRefused as error:
            log.info("a message still shows an earlier state", under=turn_id, error=error.reason)


def with_current_lines(request: Request, changes: Sequence[MemoryChange]) -> Request:
    """Returns a message with the present state of the changes that it shows. Pure."""
    return with_lines(request, former_lines(changes))


def lines_of_others(found: ShownChanges) -> list[tuple[re.Pattern[str], str]]:
    """Returns patterns for what a message may still say about what a turn set, each with the present state. Pure."""
    now = datetime.now(UTC)
    lines = [(former_line(one), made_line(one, now)) for one in list_told(found)]
    if found.kept is not None:
        lines.append((FORMER_KEPT, kept_line(found.kept) or UNMARKED))
    if found.preferences is not None:
        lines.append((FORMER_ACTING, describe_acting(found.preferences) or DROPPED))
    return lines


def list_told(found: ShownChanges) -> list[ToldReminder]:
    """Returns the reminders that a line can tell of: those that were not told themselves, or paused."""
    return [one for one in found.reminders if one.status in ("active", "proposed", "deleted")]


def with_lines(request: Request, lines: Sequence[tuple[re.Pattern[str], str]]) -> Request:
    """Returns a message whose line has other words in place of what the patterns match. Pure."""
    for former, line in lines:
        text, offsets = request["text"], utf16_offsets(request["text"])
        matches = list(former.finditer(text))
        if not matches:
            continue
        start, end = matches[-1].span()
        (now,) = format_reply("", footer=line)
        said = shorten(now.text, LIMIT - offsets[-1] + offsets[end] - offsets[start])
        moved = utf16_offsets(said)[-1] - (offsets[end] - offsets[start])
        entities = [
            {**one, "offset": one["offset"] + (moved if one["offset"] >= offsets[end] else 0)}
            for one in request.get("entities", [])
            if one["offset"] >= offsets[end] or one["offset"] + one["length"] <= offsets[start]
        ]
        room = utf16_offsets(said)[-1]
        entities += [
            {**one, "offset": one["offset"] + offsets[start]}
            for one in now.entities
            if one["offset"] + one["length"] <= room
        ]
        request = {**request, "text": text[:start] + said + text[end:], "entities": entities}
    return request


async def announce_separately(store: Store, turn: ClaimedTurn, due: Announcement, place: Place) -> list[Part]:
    """Returns the line as a separate message."""
    told = [one for one in due.changes if one.id in due.tells]
    if not told:
        await store.record_announced(due.turn_id, None, None)
        return []
    parts = message_parts(
        "", place, [*make_closed_row(told, due.turn_id), *offer_rows(told)], memory_line(told, []), silent=True
    )
    await store.announce_anew(turn, parts[0].chat_id, parts[0].request, due.tells)
    return parts


def with_line(due: Announcement) -> Request | None:
    """Returns the answer's last message as it was first sent, with a line about what was learned since; None if there
    is no room for it. Pure."""
    if due.before is None:
        return None
    told = [one for one in due.changes if one.id in due.tells]
    before = with_current_lines(due.before, [one for one in due.changes if one not in told])
    text = before["text"]
    if told:
        (line,) = format_reply("", footer=memory_line(told, []))
        gap = " · " if ends_with_line(due, text, told) else "\n\n" if text else ""
        text = f"{text}{gap}{line.text}"
    if utf16_offsets(text)[-1] > LIMIT:
        return None
    shown = [one for one in due.changes if asks_which(one, due.changes) or one in told or is_shown(one, text)]
    before_rows = buttons_in(due.before.get("reply_markup"))
    opened = is_open(buttons_in(due.shown.request.get("reply_markup"))) if due.shown else None
    rows = [*current_rows(shown, due.turn_id, before_rows, due.keeps, opened), *offer_rows(told)]
    return {**before, "text": text, "reply_markup": inline_keyboard(rows)}


def is_shown(change: MemoryChange, text: str) -> bool:
    """Whether a message still needs a button for a change: unless it was withdrawn together with its line."""
    return change.status != "undone" or any(former.search(text) for former, _ in former_lines([change]))


def ends_with_line(due: Announcement, text: str, told: Sequence[MemoryChange]) -> bool:
    """Whether a message has such a line. After an erasure it counts as having none."""
    if due.told is None:
        return False
    changes = tuple(one for one in due.changes if one not in told)
    line = format_reply("", footer=footer_of(replace(due.told, changes=changes)))
    return bool(line) and text.endswith(line[0].text)
