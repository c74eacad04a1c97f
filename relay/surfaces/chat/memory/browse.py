"""Renders /memory: lists, one memory, its origin, and buttons that change it."""

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
from relay.surfaces.chat.memory.decisions import history, outcome_line
from relay.surfaces.chat.memory.places import place_of, title_of
from relay.surfaces.chat.memory_buttons import (
    ForgetMemory,
    HistoryView,
    ListMemories,
    ListPast,
    ListPeople,
    MemoryCallback,
    OpenMemory,
    PinMemory,
    RestoreMemory,
    RestoreWording,
    TraceMemory,
    UndoInCard,
    UnpinMemory,
    View,
)
from relay.surfaces.chat.memory_pages import list_page, people_page
from relay.surfaces.chat.reply import ButtonReply, CommandReply, Page

TOAST = 190
"""The most characters in a line that pops up."""
ACTIONS: dict[type[MemoryCallback], MemoryAction] = {
    PinMemory: "pin",
    UnpinMemory: "unpin",
    ForgetMemory: "forget",
    RestoreMemory: "restore",
}


@shows("memory")
async def memory(call: ChatContext) -> CommandReply:
    """Lists or searches memories, opens one, lists changes, or switches memory."""
    text = " ".join(call.text.split())
    word, _, rest = text.partition(" ")
    if (control := WORDS.get(word.lower())) and (not rest or word.lower() in ("pause", "here")):
        return await control(call, rest)
    if text.lower() == "changes":
        return await history(call, HistoryView())
    if (number := re.fullmatch(r"#?([0-9]{1,18})", text)) is not None:
        opened = await open_number(call, int(number[1]))
        return _card(call, opened, View()).reply(opened)
    view = View.search(text)
    known = await list_memories(call, view.filter)
    return list_page(known, view, await place_of(call, call.space), call.zone).reply(known)


@pressed(ListMemories)
async def show_list(call: ChatContext, to: ListMemories) -> ButtonReply:
    space = await find_space(call, to.space_id)
    known = await list_memories(call, to.view.filter, (to.view.page - 1) * PAGE, space_id=to.space_id)
    return list_page(known, to.view, await place_of(call, space), call.zone).redraw()


@pressed(ListPeople)
async def show_people(call: ChatContext, to: ListPeople) -> ButtonReply:
    space = await find_space(call, to.space_id)
    known = await list_memories(call, limit=1, space_id=to.space_id)
    return people_page(known, await place_of(call, space)).redraw()


@pressed(OpenMemory)
async def show_card(call: ChatContext, to: OpenMemory) -> ButtonReply:
    return _card(call, await open_memory(call, to.memory_id), to.view).redraw()


@pressed(TraceMemory)
async def show_origin(call: ChatContext, to: TraceMemory) -> ButtonReply:
    found = await trace_memory(call, to.memory_id)
    chat_id = found.source.chat_id or 0
    chat = await title_of(call, chat_id) if chat_id < 0 else ""
    return origin(found.memory, found.source, to.view, call.zone, call.user_id, chat).redraw()


@pressed(*ACTIONS)
async def press_action(call: ChatContext, to: MemoryCallback) -> ButtonReply:
    """Pins, unpins, forgets or restores a memory."""
    done = await change_memory(call, to.memory_id, ACTIONS[type(to)])
    return await _reopened(call, to.memory_id, to.view, _describe(done))


@pressed(ListPast)
async def show_past(call: ChatContext, to: ListPast) -> ButtonReply:
    return (await _past(call, to.memory_id, to.page)).redraw()


@pressed(RestoreWording)
async def restore_wording(call: ChatContext, to: RestoreWording) -> ButtonReply:
    note = _describe(await change_memory(call, to.memory_id, "restore", to.change_id))
    return (await _past(call, to.memory_id, to.page, note)).redraw(shorten(note, TOAST))


@pressed(UndoInCard)
async def undo(call: ChatContext, to: UndoInCard) -> ButtonReply:
    place = await find_change(call, to.change_id)
    note = outcome_line(await decide(call, to.change_id, "undo"), "undo")
    return await _reopened(call, place.replaced or place.memory_id or 0, to.view, note)


async def _reopened(call: ChatContext, memory_id: int, view: View, note: str) -> ButtonReply:
    """Redraws a memory, with a line about what was just done."""
    return _card(call, await open_memory(call, memory_id), view, note).redraw(shorten(note, TOAST))


def _describe(done: ChangedMemory) -> str:
    """Says what happened to a memory."""
    refusal = "That isn't yours to change, or it has changed since." if done.changed.failed else "Nothing to change."
    return " ".join(change_line(change) for change in done.changed.changes) or refusal


async def _past(call: ChatContext, memory_id: int, page: int, note: str = "") -> Page:
    found = await list_past(call, memory_id, (max(page, 1) - 1) * PAGE)
    return past_page(found.memory, found.past, found.yours, call.zone, note)


def _card(call: ChatContext, opened: ShownMemory, view: View, note: str = "") -> Page:
    return card(opened.memory, view, call.zone, call.user_id, opened.yours, note)
