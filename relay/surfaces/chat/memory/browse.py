"""What is known, to look through: the list, one memory opened, where it came from, what to do with it."""

from __future__ import annotations

import re

from relay.core.models import Space
from relay.core.text import parse_number, shorten
from relay.memory.calls.memory.facts import Action
from relay.memory.rows.memories import OpenedMemory
from relay.surfaces.chat.changes import change_line
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.memory.cards import card, origin, past_page
from relay.surfaces.chat.memory.controls import WORDS
from relay.surfaces.chat.memory.decisions import decided, history
from relay.surfaces.chat.memory_pages import LAST_PAGE, PAGE, Page, View, list_page, people_page
from relay.surfaces.chat.permissions import GONE, may_forget, place_of, seen, shown, space_of, title_of
from relay.surfaces.chat.reply import ButtonReply, CommandReply


@verb("memory", usage="[words, number, changes, waiting, on, off, pause, here or reset]", help="what I know about you")
async def memory(call: ChatContext) -> CommandReply:
    """Lists what is known in this space, finds words in it, opens one memory, or lists what changed."""
    text = " ".join(call.text.split())
    word, _, rest = text.partition(" ")
    if (control := WORDS.get(word.lower())) and (not rest or word.lower() in ("pause", "here")):
        return await control(call, rest)
    if text.lower() == "changes":
        page = await history(call, call.space, "a.1")
    elif (number := re.fullmatch(r"#?([0-9]{1,18})", text)) is not None:
        memory_id = await call.store.numbered(call.space, int(number[1]))
        opened = await call.store.opened(memory_id, call.user_id, call.admin)
        if opened is None:
            return CommandReply(
                f"There is no memory #{number[1]} here. /memory lists what I know.", private=True, refused=True
            )
        page = card_of(call, opened, View())
    else:
        page = await listed(call, call.space, View.search(text))
    return CommandReply(page.text, rows=page.rows, private=True)


@pressed("ml")
async def show_list(call: ChatContext, space_id: str, view: str) -> ButtonReply:
    """A page of a list; space 0 is one's own."""
    space = await space_of(call, space_id)
    return GONE if space is None else shown(await listed(call, space, View.read(view)))


@pressed("mb")
async def show_people(call: ChatContext, space_id: str) -> ButtonReply:
    """The people of a group, to choose one."""
    space = await space_of(call, space_id)
    if space is None:
        return GONE
    known = await call.store.memories(space, 0, 1)
    return shown(people_page(known, await place_of(call, space)))


@pressed("mo")
async def show_card(call: ChatContext, memory_id: str, view: str) -> ButtonReply:
    """One memory, opened from a list."""
    row = await seen(call, memory_id)
    return GONE if row is None else shown(card_of(call, row, View.read(view)))


@pressed("mw")
async def show_origin(call: ChatContext, memory_id: str, view: str) -> ButtonReply:
    """Where a memory came from."""
    row = await seen(call, memory_id)
    source = await call.store.source(row.id) if row else None
    if row is None or source is None:
        return GONE
    chat_id = source.chat_id or 0
    chat = await title_of(call, chat_id) if chat_id < 0 else ""
    return shown(origin(row, source, View.read(view), call.zone, call.user_id, chat))


@pressed("mp")
async def pin(call: ChatContext, memory_id: str, view: str) -> ButtonReply:
    """Pins a memory: it stands first in every prompt."""
    return await done_to(call, memory_id, view, {"action": "pin", "memory_id": parse_number(memory_id)})


@pressed("mq")
async def unpin(call: ChatContext, memory_id: str, view: str) -> ButtonReply:
    """Takes the pin out again."""
    return await done_to(call, memory_id, view, {"action": "unpin", "memory_id": parse_number(memory_id)})


@pressed("mf")
async def forget_it(call: ChatContext, memory_id: str, view: str) -> ButtonReply:
    """Forgets a memory; the way back is on the same page."""
    return await done_to(
        call, memory_id, view, {"action": "forget", "content": "", "memory_id": parse_number(memory_id)}
    )


@pressed("mr")
async def restore(call: ChatContext, memory_id: str, view: str) -> ButtonReply:
    """Brings a memory back that was put away or replaced."""
    return await done_to(call, memory_id, view, {"action": "restore", "memory_id": parse_number(memory_id)})


@pressed("mh")
async def show_past(call: ChatContext, memory_id: str, page: str) -> ButtonReply:
    """What became of an opened memory."""
    row = await seen(call, memory_id)
    return GONE if row is None else shown(await past_of(call, row, page))


@pressed("mv")
async def restore_wording(call: ChatContext, memory_id: str, change_id: str, page: str) -> ButtonReply:
    """Lets a memory say again what it said before a change."""
    row = await seen(call, memory_id)
    if row is None:
        return GONE
    action = {"action": "restore", "memory_id": row.id, "change_id": parse_number(change_id)}
    told = await done(call, row, action)
    now = await call.store.opened(row.id, call.user_id, call.admin) or row
    page_now = await past_of(call, now, page, told)
    return ButtonReply(shorten(told, 190), page_now.text, page_now.rows)


@pressed("mu")
async def undo(call: ChatContext, change_id: str, view: str) -> ButtonReply:
    """Undoes the last change of an opened memory, and shows what holds then."""
    change = parse_number(change_id) or 0
    where = await call.store.changed_in(change_id=change)
    row = await seen(call, str(where.memory_id)) if where else None
    if row is None:
        return GONE
    changes, toast = await decided(call, change, "u")
    if where is None or changes is None:
        return ButtonReply(toast)
    return await reopened(call, where.replaced or row.id, view, toast)


async def done_to(call: ChatContext, memory_id: str, view: str, action: Action) -> ButtonReply:
    """Changes an opened memory and shows how it is then."""
    row = await seen(call, memory_id)
    if row is None:
        return GONE
    return await reopened(call, row.id, view, await done(call, row, action))


async def done(call: ChatContext, row: OpenedMemory, action: Action) -> str:
    """Changes a memory as somebody asked; what became of it, in words."""
    admin = {"admin": True} if call.admin else {}
    did = await call.store.change_memory(call.turn, row.space, [{**action, **admin}])
    told = " ".join(change_line(change) for change in did.changes)
    refusal = "That is not yours to change, or it has changed already." if did.failed else "It was so already."
    return told or refusal


async def past_of(call: ChatContext, row: OpenedMemory, page: str, note: str = "") -> Page:
    """A page of a memory's history, for this person."""
    start = (min(max(parse_number(page) or 1, 1), LAST_PAGE) - 1) * PAGE
    past = await call.store.memory_past(row.id, start, PAGE)
    yours = may_forget(row, row.space, call.user_id, call.admin)
    return past_page(row, past, yours, call.zone, note)


async def reopened(call: ChatContext, memory_id: int, view: str, told: str) -> ButtonReply:
    """An opened memory as it is now, with a line about what was just done."""
    row = await call.store.opened(memory_id, call.user_id, call.admin)
    if row is None:
        return GONE
    page = card_of(call, row, View.read(view), told)
    return ButtonReply(shorten(told, 190), page.text, page.rows)


async def listed(call: ChatContext, space: Space, view: View) -> Page:
    """A page of what is known in a space."""
    known = await call.store.memories(space, (view.page - 1) * PAGE, PAGE, view.asked())
    return list_page(known, view, await place_of(call, space), call.zone)


def card_of(call: ChatContext, row: OpenedMemory, view: View, note: str = "") -> Page:
    """A memory's own page, for this person."""
    space = row.space
    yours = may_forget(row, space, call.user_id, call.admin)
    return card(row, view, call.zone, call.user_id, yours, note)
