"""Renders memories and their changes as pages with buttons. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo

from relay.commands.memory.browse import PAGE
from relay.core.models import Button
from relay.core.text import escape_markdown, shorten
from relay.memory.rows.changes import ChangePage, ListedChange, PastChange
from relay.memory.rows.memories import MemoryLine, MemoryPage
from relay.surfaces.chat import memory_buttons as buttons
from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.changes import change_line, describe_done
from relay.surfaces.chat.memory_views import CHOSEN, HistoryView, View
from relay.surfaces.chat.reply import CommandReply, arrange, button
from relay.surfaces.chat.times import day, moment

NAMES = {
    "a": "All",
    "f": "Facts",
    "t": "Plain facts",
    "r": "Preferences",
    "d": "Decisions",
    "g": "Goals",
    "e": "Events",
    "h": "People",
    "m": "Feelings",
    "l": "Learnings",
    "i": "Identity",
    "k": "Knowledge",
    "o": "Operational",
    "p": "📌 Pinned",
    "n": "Unconfirmed",
    "z": "🗄 Past",
}
KINDS, CATEGORIES = "trdgehm", "iko"
"""The filters of facts by kind, and of learnings by category."""
MARKS = {
    "learning": "◆ ",
    "goal": "🎯 ",
    "decision": "⚖️ ",
    "preference": "⭐ ",
    "event": "📅 ",
    "person": "👤 ",
    "feeling": "💛 ",
}
ENDED = {"superseded": " (replaced)", "archived": " (archived)"}


def list_page(known: MemoryPage, view: View, place: str, zone: tzinfo) -> CommandReply:
    """Lists memories. `place`: the group whose memory it is, as “in …”; empty for the person's own."""
    space = known.space_id or 0
    found = filter_name(known, view)
    page, pages = known.offset // PAGE + 1, pages_of(known.matching)
    past = view.chosen == "z"
    count = f"{known.matching} of {known.total}" if found else str(known.total)
    if past:  # they aren't among the total
        count = str(known.matching)
    at = f", page {page} of {pages}" if pages > 1 else ""
    head = f"**What I know{place}{f' · {escape_markdown(found)}' if found else ''}** ({count}{at})"
    lines = "\n".join(memory_line(row, place, zone) for row in known.memories)
    if not known.total and not past:
        head = f"I don't know anything{place} yet. " + ("" if place else "Tell me about yourself, or use /remember.")
    elif not lines:
        lines = "Nothing here matches that."
    else:
        lines += "\n\nTap a number to open it. /memory \\<words> searches."
    ids = [button(f"#{row.number}", buttons.OpenMemory(row.id, view)) for row in known.memories]
    rows = [
        *arrange(ids, 4),
        page_buttons(page, pages, lambda page: buttons.ListMemories(space, replace(view, page=page))),
    ]
    rows += [*filters(known, view, space), change_buttons(known, space)]
    if place:
        rows.append([button("👤 My own memory", buttons.ListMemories(0, View()))])
    waiting = f"\n\n⏳ {known.pending} waiting for your tap." if known.pending else ""
    return CommandReply(f"{head}\n\n{lines}{waiting}", rows=[row for row in rows if row])


def filter_name(known: MemoryPage, view: View) -> str:
    """Names a filter; empty if it shows everything."""
    if view.chosen == "w":
        return f"“{view.words}”"
    if view.chosen in CHOSEN:
        return NAMES[view.chosen] if view.chosen != "a" else ""
    name = next((one.name for one in known.people if one.id == view.filter.subject_id), "one person")
    return f"about {shorten(name or '?', 40)}"


def memory_line(row: MemoryLine, place: str, zone: tzinfo) -> str:
    """Renders one memory in a list: its number, marks, person (in a group), text and date."""
    marks = ("📌 " if row.pinned else "") + MARKS.get(row.kind, "")
    subject = f"{shorten(row.subject, 40)}: " if place and row.subject else ""
    until = f", until {day(row.valid_until, zone)}" if row.valid_until else ""
    since = day(row.created_at, zone) + until + ENDED.get(row.status, "")
    return f"- `#{row.number}` {marks}{escape_markdown(subject + cut_units(row.content, 280))} · {since}"


def filters(known: MemoryPage, view: View, space: int) -> list[list[Button]]:
    """Returns the filter buttons that would change something."""
    counts = {"f": known.facts, "l": known.learnings, "p": known.pinned, "n": known.unconfirmed, "z": known.past}
    useful = [kind for kind, count in counts.items() if count and (kind in "pz" or count < known.total)]
    shown = ["a", *useful] if useful or view.chosen != "a" else []
    rows = arrange([choice(kind, counts.get(kind), view, space) for kind in shown], 4) or [[]]
    categories = {kind: known.categories.get(CHOSEN[kind].category or "") for kind in CATEGORIES}
    if view.chosen in f"l{CATEGORIES}" and sum(map(bool, categories.values())) > 1:
        rows.append([choice(kind, count, view, space) for kind, count in categories.items() if count])
    kinds = {kind: known.kinds.get(CHOSEN[kind].kind or "") for kind in KINDS}
    if view.chosen in f"af{KINDS}" and sum(map(bool, kinds.values())) > 1:
        rows += arrange([choice(kind, count, view, space) for kind, count in kinds.items() if count], 4)
    if known.people:
        rows.append([button("👥 By person", buttons.ListPeople(space))])
    return rows


def choice(kind: str, count: int | None, view: View, space: int) -> Button:
    """Returns a button that chooses a filter; the present one is marked."""
    mark = "• " if kind == view.chosen else ""
    return button(f"{mark}{NAMES[kind]}{f' {count}' if count else ''}", buttons.ListMemories(space, View(kind)))


def change_buttons(known: MemoryPage, space: int) -> list[Button]:
    """Returns the buttons that lead to the changes and switches."""
    row = []
    if known.space_id:
        row = [
            button("🕘 Changes", buttons.ListChanges(space, HistoryView())),
            button("⚙️", buttons.ShowControls(space)),
        ]
    if known.pending:
        row.append(make_waiting_button(known.pending, space))
    return row


def make_waiting_button(count: int, space: int) -> Button:
    """Returns the button that lists waiting changes."""
    return button(f"⏳ {count} waiting", buttons.ListChanges(space, HistoryView(waiting=True)))


def people_page(known: MemoryPage, place: str) -> CommandReply:
    """Lists the people of a group with memories about them, each as a button."""
    space = known.space_id or 0
    people = [
        button(f"{shorten(one.name or '?', 24)} · {one.memories}", buttons.ListMemories(space, View(f"u{one.id}")))
        for one in known.people
    ]
    text = f"**People I know{place}**" + ("" if people else "\n\nNo one yet.")
    return CommandReply(text, rows=[*arrange(people, 2), [button("‹ All", buttons.ListMemories(space, View()))]])


def history_page(found: ChangePage, waiting: bool, place: str, zone: tzinfo) -> CommandReply:
    """Lists the changes of a space, with buttons to decide about them."""
    space, total = found.space_id or 0, found.pending if waiting else found.total
    page, pages = found.offset // PAGE + 1, pages_of(total)
    what = "Waiting for your tap" if waiting else "Changes"
    head = f"**{what}{place}** ({total}{f', page {page} of {pages}' if pages > 1 else ''})"
    view = HistoryView(waiting, page)
    rows = decisions(found.changes, view)
    if waiting and total > 1:
        keep = button(f"✅ Keep all {total}", buttons.DecideWaiting(space, "k"))
        rows.append([keep, button("✖ Discard all", buttons.DecideWaiting(space, "x"))])
    rows.append(page_buttons(page, pages, lambda page: buttons.ListChanges(space, replace(view, page=page))))
    ways = [button("‹ What I know", buttons.ListMemories(space, View()))]
    if waiting:
        ways.append(button("🕘 All changes", buttons.ListChanges(space, HistoryView())))
    elif found.pending:
        ways.append(make_waiting_button(found.pending, space))
    rows.append(ways)
    nothing = "Nothing is waiting for your tap." if waiting else "Nothing has changed yet."
    return CommandReply(
        f"{head}\n\n{history_lines(found.changes, place, zone) or nothing}", rows=[row for row in rows if row]
    )


def history_lines(changes: Sequence[PastChange], place: str, zone: tzinfo) -> str:
    """Lists changes by number, with their times (Markdown)."""
    return "\n".join(
        f"- **{number}** · {moment(change.at, zone)} · {escape_markdown(history_line(change, place))}"
        for number, change in enumerate(changes, 1)
    )


def history_line(change: PastChange, place: str) -> str:
    """Describes one change and its present state."""
    subject = f"{shorten(change.subject, 30)}: " if place and change.subject else ""
    change = replace(change, content=shorten(subject + change.content))
    if change.status in ("undone", "discarded"):
        return f"{describe_done(change)} – {change.status}"
    return change_line(change)


def decisions(changes: Sequence[ListedChange], view: HistoryView) -> list[list[Button]]:
    """Returns the buttons that decide about changes, by their number in the list."""
    rows: list[list[Button]] = []
    undo: list[Button] = []
    for number, change in enumerate(changes, 1):
        if change.yours and change.status == "applied" and change.undoable:
            undo.append(button(f"↩ Undo {number}", buttons.DecideInList(change.id, "u", view)))
        elif change.yours and change.status == "pending":
            keep = "🗑 Forget" if change.action == "forget" else "✅ Keep"
            discard = button(f"✖ Discard {number}", buttons.DecideInList(change.id, "x", view))
            rows.append([button(f"{keep} {number}", buttons.DecideInList(change.id, "k", view)), discard])
    return [*rows, *arrange(undo, 4)]


def page_buttons(page: int, pages: int, to: Callable[[int], Callback]) -> list[Button]:
    """Returns the buttons that turn pages; none for a single page. The page's own number reloads it."""
    if pages < 2:
        return []
    back = [button("«", to(1)), button("‹", to(page - 1))] if page > 1 else []
    on = [button("›", to(page + 1)), button("»", to(pages))] if page < pages else []
    return [*back, button(f"page {page} of {pages}", to(page)), *on]


def pages_of(count: int) -> int:
    """Counts the pages that this many entries fill; at least one."""
    return max(1, -(-count // PAGE))


def cut_units(text: str, units: int) -> str:
    """Cuts a text to a number of UTF-16 units, as Telegram counts."""
    data = text.encode("utf-16-le", "replace")
    if len(data) <= 2 * units:
        return text
    return data[: 2 * units - 2].decode("utf-16-le", "ignore").rstrip() + "…"
