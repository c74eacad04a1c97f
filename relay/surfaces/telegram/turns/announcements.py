"""What was learned after an answer was sent is told in the one line under it, once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from relay.core.errors import ChatGone, MessengerError, MessengerRefused, MessengerThrottled, MessengerUnavailable
from relay.core.ports import Messenger
from relay.memory.calls.base import decode_row
from relay.memory.calls.jobs import LEASE_SECONDS
from relay.memory.rows.answer import Answer
from relay.memory.rows.changes import MemoryChange
from relay.memory.store import Store
from relay.surfaces.chat.changes import asks_which, closed_row, memory_line
from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.formatting.split import LIMIT
from relay.surfaces.telegram.formatting.styled import utf16_offsets
from relay.surfaces.telegram.groups.groups import is_alone_with
from relay.surfaces.telegram.outgoing.render import footer_of, message_parts
from relay.surfaces.telegram.parsing.place import Place

log = structlog.get_logger()

Json = dict[str, Any]
AT_ONCE = 4
LONGEST_PAUSE = 600.0
EDITED = ("chat_id", "text", "entities", "link_preview_options", "reply_markup")


@dataclass(frozen=True, slots=True)
class Teller:
    """What telling needs. It tells in one bot's chats."""

    store: Store
    messenger: Messenger
    bot_id: int


async def tell_due(teller: Teller) -> int:
    """Tells what was learned and not told yet. Returns how much was tried."""
    tried = 0
    while due := await teller.store.claim_announcements(teller.bot_id, AT_ONCE, LEASE_SECONDS):
        await asyncio.gather(*(tell(teller, one) for one in due))
        tried += len(due)
    return tried


async def tell(teller: Teller, due: Json) -> None:
    """Gives the answer's last message the line and its button; a message that takes it not gets a small silent one
    behind it. An edit may be repeated; that message is sent once. What belongs to one person is told to them alone when
    others have come into their group since."""
    turn_id, shown = due["turn_id"], due["shown"]
    request = with_line(due) if shown else None
    try:
        if await overheard(teller, due):
            await tell_anew(teller, {**due, "chat_id": due["owner_id"], "topic_id": 0, "private": True})
            return
        if request is None:
            await tell_anew(teller, due)
            return
        at = {"message_id": shown["message_id"]}
        edit = {key: request[key] for key in EDITED if key in request}
        await teller.messenger.call("editMessageText", **edit, **at)
    except ChatGone:
        await teller.store.announced(turn_id, None, None)
        return
    except MessengerRefused as error:
        if "not modified" not in error.reason.lower():
            log.info("told in a message of its own", turn_id=turn_id, error=error.reason)
            await tell_anew(teller, due)
            return
    except MessengerError as error:
        await put_off(teller, due, error)
        return
    await teller.store.announced(turn_id, shown["seq"], request)


async def overheard(teller: Teller, due: Json) -> bool:
    """Whether others may read along in a group that was its owner's alone when the answer was given there. Raises what
    leaves that open."""
    if due["owner_id"] is None or due["chat_id"] >= 0:
        return False
    try:
        return not await is_alone_with(teller.messenger.call, teller.bot_id, due["chat_id"], due["owner_id"])
    except MessengerRefused:
        return True


async def put_off(teller: Teller, due: Json, error: MessengerError) -> None:
    """Leaves it for later."""
    pause = error.retry_after if isinstance(error, MessengerThrottled) else 2.0 * 2 ** min(due["failures"], 10)
    await teller.store.put_off_announcement(due["turn_id"], min(LONGEST_PAUSE, pause))


async def tell_anew(teller: Teller, due: Json) -> None:
    """Sends the line as a message, at most once: one whose sending is uncertain is not repeated."""
    told = [one for one in changes_of(due) if one.id in due["tells"]]
    if not told:
        await teller.store.announced(due["turn_id"], None, None)
        return
    place = Place(due["chat_id"], due["topic_id"], due["private"])
    (part,) = message_parts("", place, closed_row(told, due["turn_id"]), memory_line(told, []), silent=True)
    if not await teller.store.announce_anew(due["turn_id"], part.request):
        return
    try:
        sent = await teller.messenger.call("sendMessage", **part.request)
    except (MessengerThrottled, MessengerUnavailable) as error:  # certainly not carried out
        await put_off(teller, due, error)
    except MessengerError as error:
        log.warning("what was learned could not be told", turn_id=due["turn_id"], error=str(error))
    else:
        await teller.store.announced_anew(due["turn_id"], due["chat_id"], int(sent["message_id"]))


def with_line(due: Json) -> Json | None:
    """The answer's last message as it was first sent, with what was learned since in the line under it; None when it
    has no room for that. Pure."""
    told = [one for one in changes_of(due) if one.id in due["tells"]]
    before = due["before"]
    text = before["text"]
    if told:
        (line,) = format_reply("", footer=memory_line(told, []))
        text = f"{text}{' · ' if ends_with_line(due, told) else _gap(text)}{line.text}"
    if utf16_offsets(text)[-1] > LIMIT:
        return None
    present = (before.get("reply_markup") or {}).get("inline_keyboard") or []
    others = [row for row in present if not any(str(one.get("callback_data")).startswith(("u:", "k:")) for one in row)]
    changes = changes_of(due)
    stands = [one for one in changes if not asks_which(one, changes)]
    rows = [*closed_row(stands, due["turn_id"], due["keeps"]), *others]
    return {**before, "text": text, "reply_markup": {"inline_keyboard": rows}}


def _gap(text: str) -> str:
    return "\n\n" if text else ""


def changes_of(due: Json) -> list[MemoryChange]:
    """All that the turn changed."""
    return decode_row(list[MemoryChange], due["changes"])


def ends_with_line(due: Json, told: Sequence[MemoryChange]) -> bool:
    """Whether the message had such a line when it was sent. After an erasure nothing tells, and it has none."""
    if due["told"] is None:
        return False
    changes = tuple(one for one in changes_of(due) if one not in told)
    answer = replace(decode_row(Answer, due["told"]), changes=changes)
    line = format_reply("", footer=footer_of(answer))
    return bool(line) and due["before"]["text"].endswith(line[0].text)
