"""Shows what is known: lists, one memory opened, where it came from, and buttons that change it."""

from __future__ import annotations

import re

from relay.commands.memory.access import find_change, find_space
from relay.commands.memory.browse import (
    PAGE,
    ShownMemory,
    list_memories,
    list_past,
    open_memory,
    open_number,
    trace_memory,
)
from relay.commands.memory.change import ChangedMemory, MemoryAction, change_memory
from relay.commands.memory.decide import decide
from relay.core.text import shorten
from relay.surfaces.chat.changes import change_line
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, shows
from relay.surfaces.chat.memory.cards import card, origin, past_page
from relay.surfaces.chat.memory.controls import WORDS
from relay.surfaces.chat.memory.decisions import history, said_of
from relay.surfaces.chat.memory.places import place_of, title_of
from relay.surfaces.chat.memory_buttons import (
    ForgetMemory,
    HistoryView,
    ListMemories,
    ListPast,
    ListPeople,
    OpenMemory,
    PinMemory,
    RestoreMemory,
    RestoreWording,
    TraceMemory,
    UndoInCard,
    UnpinMemory,
    View,
)
from relay.surfaces.chat.memory_pages import Page, list_page, people_page
from relay.surfaces.chat.reply import ButtonReply, CommandReply

TOAST = 190
"""Characters of a line that pops up, at most."""


@shows("memory")
async def memory(call: ChatContext) -> CommandReply:
    """Lists what is known, finds words in it, opens one memory, lists changes, or switches memory."""
    text = " ".join(call.text.split())
    word, _, rest = text.partition(" ")
    if (control := WORDS.get(word.lower())) and (not rest or word.lower() in ("pause", "here")):
        return await control(call, rest)
    if text.lower() == "changes":
        return await history(call, HistoryView())
    if (number := re.fullmatch(r"#?([0-9]{1,18})", text)) is not None:
        opened = await open_number(call, int(number[1]))
        return _reply(_card(call, opened, View()), opened)
    view = View.search(text)
    known = await list_memories(call, view.filter)
    return _reply(list_page(known, view, await place_of(call, call.space), call.zone), known)


@pressed(ListMemories)
async def show_list(call: ChatContext, to: ListMemories) -> ButtonReply:
    """Shows a page of a list."""
    space = await find_space(call, to.space_id)
    known = await list_memories(call, to.view.filter, (to.view.page - 1) * PAGE, space_id=to.space_id)
    return _shown(list_page(known, to.view, await place_of(call, space), call.zone))


@pressed(ListPeople)
async def show_people(call: ChatContext, to: ListPeople) -> ButtonReply:
    """Shows the people of a group, to choose one."""
    space = await find_space(call, to.space_id)
    known = await list_memories(call, limit=1, space_id=to.space_id)
    return _shown(people_page(known, await place_of(call, space)))


@pressed(OpenMemory)
async def show_card(call: ChatContext, to: OpenMemory) -> ButtonReply:
    """Opens a memory from a list."""
    return _shown(_card(call, await open_memory(call, to.memory_id), to.view))


@pressed(TraceMemory)
async def show_origin(call: ChatContext, to: TraceMemory) -> ButtonReply:
    """Shows where a memory came from."""
    found = await trace_memory(call, to.memory_id)
    chat_id = found.source.chat_id or 0
    chat = await title_of(call, chat_id) if chat_id < 0 else ""
    return _shown(origin(found.memory, found.source, to.view, call.zone, call.user_id, chat))


@pressed(PinMemory)
async def pin(call: ChatContext, to: PinMemory) -> ButtonReply:
    """Pins a memory: it comes first in every prompt."""
    return await _change(call, to.memory_id, "pin", to.view)


@pressed(UnpinMemory)
async def unpin(call: ChatContext, to: UnpinMemory) -> ButtonReply:
    """Unpins a memory."""
    return await _change(call, to.memory_id, "unpin", to.view)


@pressed(ForgetMemory)
async def forget_it(call: ChatContext, to: ForgetMemory) -> ButtonReply:
    """Forgets a memory; the same page has a button that undoes it."""
    return await _change(call, to.memory_id, "forget", to.view)


@pressed(RestoreMemory)
async def restore(call: ChatContext, to: RestoreMemory) -> ButtonReply:
    """Brings back a memory that was put away or replaced."""
    return await _change(call, to.memory_id, "restore", to.view)


@pressed(ListPast)
async def show_past(call: ChatContext, to: ListPast) -> ButtonReply:
    """Shows what became of a memory."""
    return _shown(await _past(call, to.memory_id, to.page))


@pressed(RestoreWording)
async def restore_wording(call: ChatContext, to: RestoreWording) -> ButtonReply:
    """Lets a memory say again what it said before a change."""
    said = _told(await change_memory(call, to.memory_id, "restore", to.change_id))
    page = await _past(call, to.memory_id, to.page, said)
    return ButtonReply(shorten(said, TOAST), page.text, page.rows)


@pressed(UndoInCard)
async def undo(call: ChatContext, to: UndoInCard) -> ButtonReply:
    """Undoes the last change of a memory, and shows the memory that holds then."""
    place = await find_change(call, to.change_id)
    said = said_of(await decide(call, to.change_id, "undo"), "undo")
    return await _reopened(call, place.replaced or place.memory_id or 0, to.view, said)


async def _change(call: ChatContext, memory_id: int, action: MemoryAction, view: View) -> ButtonReply:
    said = _told(await change_memory(call, memory_id, action))
    return await _reopened(call, memory_id, view, said)


async def _reopened(call: ChatContext, memory_id: int, view: View, said: str) -> ButtonReply:
    """A memory as it is now, with a line about what was just done."""
    page = _card(call, await open_memory(call, memory_id), view, said)
    return ButtonReply(shorten(said, TOAST), page.text, page.rows)


def _told(done: ChangedMemory) -> str:
    """What became of a memory, in words."""
    refusal = "That is not yours to change, or it has changed already." if done.changed.failed else "It was so already."
    return " ".join(change_line(change) for change in done.changed.changes) or refusal


async def _past(call: ChatContext, memory_id: int, page: int, note: str = "") -> Page:
    found = await list_past(call, memory_id, (max(page, 1) - 1) * PAGE)
    return past_page(found.memory, found.past, found.yours, call.zone, note)


def _card(call: ChatContext, opened: ShownMemory, view: View, note: str = "") -> Page:
    return card(opened.memory, view, call.zone, call.user_id, opened.yours, note)


def _reply(page: Page, result: object) -> CommandReply:
    return CommandReply(page.text, rows=page.rows, private=True, result=result)


def _shown(page: Page) -> ButtonReply:
    return ButtonReply(text=page.text, rows=page.rows)
