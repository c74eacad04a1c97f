"""Renders /memory: lists, one memory, its origin, and buttons that change it; and /export."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import replace

from relay.archive.export_file import LINES
from relay.archive.packed import TEXT
from relay.commands.memory import browse as commands
from relay.commands.memory.access import find_change, find_space
from relay.commands.memory.change import MemoryPatch, PatchedMemory, forget_memory, patch_memory, restore_memory
from relay.commands.memory.decide import decide
from relay.core.errors import Conflict, NotAllowed
from relay.core.models import Space
from relay.core.program import RELAY
from relay.core.text import shorten
from relay.memory.rows.memories import MemoryPage
from relay.surfaces.chat import memory_buttons as buttons
from relay.surfaces.chat.changes import change_line
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, shows
from relay.surfaces.chat.memory.cards import card, origin, past_page
from relay.surfaces.chat.memory.controls import WORDS
from relay.surfaces.chat.memory.decisions import history, outcome_line
from relay.surfaces.chat.memory.places import place_of, title_of
from relay.surfaces.chat.memory_pages import list_page, people_page
from relay.surfaces.chat.memory_views import HistoryView, View
from relay.surfaces.chat.reply import ButtonReply, CommandReply, app_rows

TOAST = 190
"""The most characters in a line that pops up."""
PATCHES: dict[type[buttons.MemoryCallback], MemoryPatch] = {
    buttons.PinMemory: MemoryPatch(pinned=True),
    buttons.UnpinMemory: MemoryPatch(pinned=False),
    buttons.ValidateMemory: MemoryPatch(confirmed=True),
}
SURE = "✔ Thanks. I'm sure of it now."


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
        opened = await commands.open_number(call, int(number[1]))
        return _card(call, opened, View()).returning(opened, private=True)
    view = View.search(text)
    known = await commands.list_memories(call, view.filter)
    return (await _list(call, known, view, call.space)).returning(known, private=True)


@pressed(buttons.ListMemories)
async def show_list(call: ChatContext, to: buttons.ListMemories) -> ButtonReply:
    space = await find_space(call, to.space_id)
    known = await commands.list_memories(call, to.view.filter, (to.view.page - 1) * commands.PAGE, space_id=to.space_id)
    return (await _list(call, known, to.view, space)).redraw()


async def _list(call: ChatContext, known: MemoryPage, view: View, space: Space) -> CommandReply:
    page = list_page(known, view, await place_of(call, space), call.zone)
    return replace(page, rows=[*page.rows, *app_rows(call, "/memory")])


@pressed(buttons.ListPeople)
async def show_people(call: ChatContext, to: buttons.ListPeople) -> ButtonReply:
    space = await find_space(call, to.space_id)
    known = await commands.list_memories(call, limit=1, space_id=to.space_id)
    return people_page(known, await place_of(call, space)).redraw()


@pressed(buttons.OpenMemory)
async def show_card(call: ChatContext, to: buttons.OpenMemory) -> ButtonReply:
    return _card(call, await commands.open_memory(call, to.memory_id), to.view).redraw()


@pressed(buttons.TraceMemory)
async def show_origin(call: ChatContext, to: buttons.TraceMemory) -> ButtonReply:
    found = await commands.trace_memory(call, to.memory_id)
    chat_id = found.source.chat_id or 0
    chat = await title_of(call, chat_id) if chat_id < 0 else ""
    return origin(found.memory, found.source, to.view, call.zone, call.user_id, chat).redraw()


@pressed(*PATCHES)
async def press_patch(call: ChatContext, to: buttons.MemoryCallback) -> ButtonReply:
    """Pins, unpins or confirms a memory."""
    patch = PATCHES[type(to)]
    note = await _note(patch_memory(call, to.memory_id, patch), SURE if patch.confirmed else "Nothing to change.")
    return await _reopen(call, to.memory_id, to.view, note)


@pressed(buttons.ForgetMemory)
async def press_forget(call: ChatContext, to: buttons.ForgetMemory) -> ButtonReply:
    return await _reopen(call, to.memory_id, to.view, await _note(forget_memory(call, to.memory_id)))


@pressed(buttons.RestoreMemory)
async def press_restore(call: ChatContext, to: buttons.RestoreMemory) -> ButtonReply:
    return await _reopen(call, to.memory_id, to.view, await _note(restore_memory(call, to.memory_id)))


@pressed(buttons.ListPast)
async def show_past(call: ChatContext, to: buttons.ListPast) -> ButtonReply:
    return (await _past(call, to.memory_id, to.page)).redraw()


@pressed(buttons.RestoreWording)
async def restore_wording(call: ChatContext, to: buttons.RestoreWording) -> ButtonReply:
    note = await _note(restore_memory(call, to.memory_id, to.change_id))
    return (await _past(call, to.memory_id, to.page, note)).redraw(shorten(note, TOAST))


@pressed(buttons.UndoInCard)
async def undo(call: ChatContext, to: buttons.UndoInCard) -> ButtonReply:
    place = await find_change(call, to.change_id)
    note = outcome_line(await decide(call, to.change_id, "undo"), "undo")
    return await _reopen(call, place.replaced or place.memory_id or 0, to.view, note)


async def _reopen(call: ChatContext, memory_id: int, view: View, note: str) -> ButtonReply:
    """Redraws a memory, with a line about what was just done."""
    return _card(call, await commands.open_memory(call, memory_id), view, note).redraw(shorten(note, TOAST))


async def _note(work: Awaitable[PatchedMemory], otherwise: str = "Nothing to change.") -> str:
    """Does the work, and returns a line about what changed. A refusal becomes the line, so the card can be redrawn."""
    try:
        done = await work
    except (Conflict, NotAllowed) as refusal:
        return str(refusal)
    return " ".join(map(change_line, done.changed.changes)) or otherwise


async def _past(call: ChatContext, memory_id: int, page: int, note: str = "") -> CommandReply:
    found = await commands.list_past(call, memory_id, (max(page, 1) - 1) * commands.PAGE)
    return past_page(found.memory, found.past, found.yours, call.zone, note)


def _card(call: ChatContext, opened: commands.ShownMemory, view: View, note: str = "") -> CommandReply:
    return card(opened.memory, view, call.zone, call.user_id, opened.yours, note, opened.editable)


@shows("export", private=True)
async def export(call: ChatContext) -> CommandReply:
    """Sends this space's memories and messages, to read and to import; from a group, to the person's own chat."""
    shared = call.space.kind == "group"
    file = await commands.export(call, await title_of(call, call.space.chat_id or 0) if shared else "")
    own = "Preferences and feedback of other members aren't in it. " if shared else ""
    how = f" (`{RELAY} import`)" if call.operator else ""
    text = (
        f"Here's everything I know and everything that was said{await place_of(call, call.space)}. {own}{TEXT} is for "
        f"you to read, {LINES} is for another Relay{how}. Keep it safe: it's private."
    )
    return CommandReply(text, file=file)
