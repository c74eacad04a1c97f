"""Renders /memory: the lists; and /export."""

from __future__ import annotations

import re
from dataclasses import replace

from relay.archive.export_file import LINES
from relay.archive.packed import TEXT
from relay.commands.memory import browse as commands
from relay.commands.memory.access import find_space
from relay.core.models import Space
from relay.core.program import RELAY
from relay.memory.rows.memories import MemoryPage
from relay.surfaces.chat import memory_buttons as buttons
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, shows
from relay.surfaces.chat.memory.cards import open_card
from relay.surfaces.chat.memory.controls import WORDS
from relay.surfaces.chat.memory.decisions import history
from relay.surfaces.chat.memory.places import place_of, title_of
from relay.surfaces.chat.memory_pages import list_page, people_page
from relay.surfaces.chat.memory_views import HistoryView, View
from relay.surfaces.chat.reply import ButtonReply, CommandReply, app_rows


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
        return open_card(call, opened, View()).returning(opened, private=True)
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
