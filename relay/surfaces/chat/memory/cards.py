"""Renders one memory as a page, and its history, with the buttons that change it."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import tzinfo

from relay.commands.memory import browse as commands
from relay.commands.memory.access import find_change
from relay.commands.memory.change import MemoryPatch, PatchedMemory, forget_memory, patch_memory, restore_memory
from relay.commands.memory.decide import decide
from relay.core.errors import Conflict, NotAllowed, NotFound
from relay.core.models import Button
from relay.core.text import escape_markdown, escape_sentence, pluralize, shorten
from relay.memory.rows.changes import MemoryPast
from relay.memory.rows.memories import OpenedMemory
from relay.surfaces.chat.changes import change_line
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, pressed
from relay.surfaces.chat.memory.decisions import outcome_line
from relay.surfaces.chat.memory.origin import quote, show_origin
from relay.surfaces.chat.memory_buttons import EditMemory, ListChanges, ListMemories, OpenMemory
from relay.surfaces.chat.memory_pages import cut_units, history_lines, page_buttons, pages_of
from relay.surfaces.chat.memory_views import HistoryView, View
from relay.surfaces.chat.reply import ButtonReply, CommandReply, arrange, button
from relay.surfaces.chat.times import moment

KINDS = ("fact", "preference", "decision", "event", "person", "goal", "feeling", "learning")
UNDO = {
    "supersede": "↩ Undo replacing",
    "merge": "↩ Undo replacing",
    "archive": "↩ Undo archiving",
    "restore": "↩ Undo restoring",
    "refresh": "↩ Undo rewording",
    "forget": "↩ Undo forgetting",
    "pin": "↩ Undo pinning",
    "unpin": "↩ Undo unpinning",
}
STATUS = {
    "pending": "⏳ Waiting for a tap; I'm not using it yet.",
    "superseded": "⇢ Replaced by something newer; I no longer use it.",
    "archived": "🗄 Archived; I don't use it, but search finds it.",
    "forgotten": "🧠 Forgotten; I no longer use it.",
    "discarded": "✖ Undone or discarded; I'm not using it.",
}
SURE = "✔ Thanks. I'm sure of it now."
TOAST = 190
"""The most characters in a line that pops up."""


@pressed(OpenMemory)
async def show_card(call: ChatContext, to: OpenMemory) -> ButtonReply:
    return open_card(call, await commands.open_memory(call, to.memory_id), to.view).redraw()


@action("mp")
async def press_pin(call: ChatContext, memory_id: int, view: View) -> ButtonReply:
    """Pins a memory: it comes first in every prompt."""
    return await _change(call, memory_id, view, patch_memory(call, memory_id, MemoryPatch(pinned=True)))


@action("mq")
async def press_unpin(call: ChatContext, memory_id: int, view: View) -> ButtonReply:
    """Unpins a memory."""
    return await _change(call, memory_id, view, patch_memory(call, memory_id, MemoryPatch(pinned=False)))


@action("mg")
async def press_confirm(call: ChatContext, memory_id: int, view: View) -> ButtonReply:
    """Says that a memory is right."""
    return await _change(call, memory_id, view, patch_memory(call, memory_id, MemoryPatch(confirmed=True)), SURE)


@action("mf")
async def press_forget(call: ChatContext, memory_id: int, view: View) -> ButtonReply:
    """Forgets a memory; the same page has a button that undoes it."""
    return await _change(call, memory_id, view, forget_memory(call, memory_id))


@action("mr")
async def press_restore(call: ChatContext, memory_id: int, view: View) -> ButtonReply:
    """Restores a memory that was archived or replaced."""
    return await _change(call, memory_id, view, restore_memory(call, memory_id))


@action("mu")
async def press_undo(call: ChatContext, change_id: int, view: View) -> ButtonReply:
    """Undoes the last change of an open memory."""
    place = await find_change(call, change_id)
    note = outcome_line(await decide(call, change_id, "undo"), "undo")
    return await _reopen(call, place.replaced or place.memory_id or 0, view, note)


@action("mh")
async def show_past(call: ChatContext, memory_id: int, page: int) -> ButtonReply:
    """Shows a page of one memory's changes."""
    return (await _past(call, memory_id, page)).redraw()


@action("mv")
async def restore_wording(call: ChatContext, memory_id: int, change_id: int, page: int) -> ButtonReply:
    """Restores a memory's wording from before a change."""
    note = await _note(restore_memory(call, memory_id, change_id))
    return (await _past(call, memory_id, page, note)).redraw(shorten(note, TOAST))


async def _change(
    call: ChatContext, memory_id: int, view: View, work: Awaitable[PatchedMemory], otherwise: str = "Nothing to change."
) -> ButtonReply:
    return await _reopen(call, memory_id, view, await _note(work, otherwise))


async def _reopen(call: ChatContext, memory_id: int, view: View, note: str) -> ButtonReply:
    """Redraws a memory, with a line about what was just done."""
    return open_card(call, await commands.open_memory(call, memory_id), view, note).redraw(shorten(note, TOAST))


async def _note(work: Awaitable[PatchedMemory], otherwise: str = "Nothing to change.") -> str:
    """Does the work, and returns a line about what changed. A refusal becomes the line, so the card can be redrawn."""
    try:
        done = await work
    except (Conflict, NotAllowed, NotFound) as refusal:
        return str(refusal)
    return " ".join(map(change_line, done.changed.changes)) or otherwise


async def _past(call: ChatContext, memory_id: int, page: int, note: str = "") -> CommandReply:
    found = await commands.list_past(call, memory_id, (max(page, 1) - 1) * commands.PAGE)
    return past_page(found.memory, found.past, found.yours, call.zone, note)


def open_card(call: ChatContext, opened: commands.ShownMemory, view: View, note: str = "") -> CommandReply:
    """Renders a memory in full. `note`: a line about what was just done."""
    return card(opened.memory, view, call.zone, call.user_id, opened.yours, note, opened.editable)


def card(
    row: OpenedMemory, view: View, zone: tzinfo, viewer: int, yours: bool, note: str = "", edits: bool = False
) -> CommandReply:
    """Renders a memory in full. `yours`: this person may change it; `edits`: reword it. `note`: a line about what
    was just done."""
    about = f" about {escape_markdown(shorten(row.subject, 60))}" if row.subject else ""
    kind = (row.kind if row.kind in KINDS else "fact").capitalize()
    lines = [f"- learned {moment(row.created_at, zone)}: {describe_learning(row, viewer)}", *life(row, zone)]
    if row.updated_at != row.created_at:
        lines.append(f"- last changed {moment(row.updated_at, zone)}")
    if row.category:
        lines.append(f"- category: {escape_markdown(cut_units(row.category, 80))}")
    if row.tags:
        lines.append(f"- tags: {escape_markdown(cut_units(', '.join(map(str, row.tags)), 450))}")
    head = f"**{'📌 ' if row.pinned else ''}{kind} #{row.number}{about}**"
    notes = [STATUS.get(row.status, ""), note]
    if row.status == "active" and not yours:
        notes.append("Only the person it's about and my admins can change it.")
    below = "".join(f"\n\n{escape_sentence(one)}" for one in notes if one)
    text = f"{head}\n\n{quote(cut_units(row.content, 2900))}\n\n" + "\n".join(lines) + below
    return CommandReply(text, rows=card_buttons(row, view, yours, edits))


def life(row: OpenedMemory, zone: tzinfo) -> list[str]:
    """Lists a memory's importance, validity and use."""
    sure = f", {100 * row.confidence:.0f}% sure" if row.confidence < 1 else ""
    sure = ", confirmed" if row.validated_at else sure
    lines = [f"- importance: {row.importance} of 10{sure}"]
    since, until = row.valid_from, row.valid_until
    if until:
        ends = "deadline" if row.kind == "goal" else "valid until"
        lines.append(f"- {ends}: {moment(until, zone)}" + (f", since {moment(since, zone)}" if since else ""))
    elif since:
        lines.append(f"- valid since {moment(since, zone)}")
    if row.uses and row.last_used_at:
        lines.append(f"- used {pluralize(row.uses, 'time')}, last {moment(row.last_used_at, zone)}")
    if row.faded and row.status == "active":
        lines.append("- unused for half a year: left out of prompts, but search finds it")
    if row.evidence:
        lines.append(f"- said in {pluralize(row.evidence, 'message')}")
    if row.replaced_by:
        lines.append(f"- replaced by #{row.replaced_number}")
    return lines


def card_buttons(row: OpenedMemory, view: View, yours: bool, edits: bool) -> list[list[Button]]:
    """Returns the buttons for a memory, and the one back to the list."""
    number, rows = row.id, []
    if edits and row.status != "active":
        rows.append([button("✎ Edit", EditMemory(number))])
    if yours and row.status == "active":
        pin = button("Unpin", press_unpin(number, view)) if row.pinned else button("📌 Pin", press_pin(number, view))
        rows.append([button("✎ Edit", EditMemory(number))] if edits else [])
        rows[-1] += [button("🗑 Forget", press_forget(number, view)), pin]
        if not row.validated_at:
            rows[-1].append(button("✔ Confirm", press_confirm(number, view)))
    more = [button("Source", show_origin(number, view)), button("🕘 History", show_past(number, 1))]
    if row.replaced_by:
        more.append(button("⇢ What replaced it", OpenMemory(row.replaced_by, view)))
    if yours and row.status in ("archived", "superseded"):
        more.append(button("♻ Restore", press_restore(number, view)))
    if row.last and row.last.action in UNDO:
        more.append(button(UNDO[row.last.action], press_undo(row.last.id, view)))
    if row.status == "pending":
        more.append(button("⏳ Keep or discard…", ListChanges(row.space_id, HistoryView(waiting=True))))
    return [*rows, *arrange(more, 2), [button("‹ Back", ListMemories(row.space_id, view))]]


def describe_learning(row: OpenedMemory, viewer: int) -> str:
    """Says how a memory came about."""
    if row.by == "user":
        who = "you" if row.subject_id == viewer else escape_markdown(shorten(row.subject or "someone", 60))
        return f"{who} asked me to remember it"
    if row.by == "promoted":
        return "you saved a message" if row.promoted_by == viewer else "someone saved a message"
    if row.tainted:
        confirmed = "confirmed by a tap" if row.status == "active" else "never confirmed"
        return f"I noticed it next to other people's words; {confirmed}"
    return "I noticed it in a conversation"


def past_page(row: OpenedMemory, past: MemoryPast, yours: bool, zone: tzinfo, note: str = "") -> CommandReply:
    """Lists a memory's changes, newest first, with buttons that restore earlier wordings. `yours`: this person may."""
    page, pages = past.offset // commands.PAGE + 1, pages_of(past.total)
    at = f" ({page} of {pages})" if pages > 1 else ""
    lines = history_lines(past.changes, "", zone)
    text = f"**History of #{row.number}**{at}\n\n{quote(cut_units(row.content, 300))}\n\n{lines}"
    restores = [
        button(f"♻ Restore {number}", restore_wording(row.id, change.id, page))
        for number, change in enumerate(past.changes, 1)
        if yours and change.restores
    ]
    rows = [*arrange(restores, 4), page_buttons(page, pages, lambda page: show_past(row.id, page))]
    rows.append([button("‹ Back", OpenMemory(row.id, View()))])
    said = f"\n\n{escape_sentence(note)}" if note else ""
    return CommandReply(text + said, rows=[one for one in rows if one])
