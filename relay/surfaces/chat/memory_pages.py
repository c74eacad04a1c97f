"""What is known, and how it changed, as pages with buttons. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import NamedTuple

from relay.core.models import Button
from relay.core.text import escape_markdown, shorten
from relay.memory.rows.changes import ChangePage, PastChange
from relay.memory.rows.memories import MemoryLine, MemoryPage
from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.changes import change_line, done_line
from relay.surfaces.chat.memory_buttons import (
    CHOSEN,
    DecideInList,
    DecideWaiting,
    HistoryView,
    ListChanges,
    ListMemories,
    ListPeople,
    OpenMemory,
    ShowControls,
    View,
)
from relay.surfaces.chat.reply import button
from relay.surfaces.chat.times import day, moment

PAGE = 8
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
ENDED = {"superseded": " (replaced)", "archived": " (put away)"}


class Page(NamedTuple):
    """One message: Markdown that fits it, and its buttons."""

    text: str
    rows: list[list[Button]]


def list_page(known: MemoryPage, view: View, place: str, zone: tzinfo) -> Page:
    """What is known. `place`: the group whose memory it is, as “in …”; empty for one's own."""
    space = known.space_id or 0
    found = filter_name(known, view)
    page, pages = known.offset // PAGE + 1, pages_of(known.matching)
    count = f"{known.matching} of {known.total}" if found else str(known.total)
    at = f", page {page} of {pages}" if pages > 1 else ""
    head = f"**What I know{place}{f' · {escape_markdown(found)}' if found else ''}** ({count}{at})"
    lines = "\n".join(memory_line(row, place, zone) for row in known.memories)
    if not known.total:
        head = f"I know nothing{place} yet. " + ("" if place else "Tell me about yourself, or use /remember.")
    elif not lines:
        lines = "There is nothing like that."
    else:
        lines += "\n\nA number opens it; /memory \\<words> looks for words."
    ids = [button(f"#{row.number}", OpenMemory(row.id, view)) for row in known.memories]
    rows = [*by_four(ids), turning(page, pages, lambda page: ListMemories(space, replace(view, page=page)))]
    rows += [*filters(known, view, space), below(known, space)]
    if place:
        rows.append([button("👤 My own memory", ListMemories(0, View()))])
    return Page(f"{head}\n\n{lines}{waits(known.pending)}", [row for row in rows if row])


def filter_name(known: MemoryPage, view: View) -> str:
    """What a filter shows, in words; empty when it shows everything."""
    if view.chosen == "w":
        return f"“{view.words}”"
    if view.chosen in CHOSEN:
        return NAMES[view.chosen] if view.chosen != "a" else ""
    name = next((one.name for one in known.people if one.id == view.filter.subject_id), "one person")
    return f"about {shorten(name or '?', 40)}"


def memory_line(row: MemoryLine, place: str, zone: tzinfo) -> str:
    """One memory in a list: its number, marks, the person (in a group), what it says, its date."""
    marks = ("📌 " if row.pinned else "") + MARKS.get(row.kind, "")
    subject = f"{shorten(row.subject, 40)}: " if place and row.subject else ""
    until = f", until {day(row.valid_until, zone)}" if row.valid_until else ""
    since = day(row.created_at, zone) + until + ENDED.get(row.status, "")
    return f"- `#{row.number}` {marks}{escape_markdown(subject + within(row.content, 280))} · {since}"


def filters(known: MemoryPage, view: View, space: int) -> list[list[Button]]:
    """The buttons that choose, as far as there is something to choose."""
    counts = {"f": known.facts, "l": known.learnings, "p": known.pinned, "z": known.past}
    worth = [kind for kind, count in counts.items() if count and (kind in "pz" or count < known.total)]
    shown = ["a", *worth] if worth or view.chosen != "a" else []
    rows = [[choice(kind, counts.get(kind), view, space) for kind in shown]]
    categories = {kind: known.categories.get(CHOSEN[kind].category or "") for kind in CATEGORIES}
    if view.chosen in f"l{CATEGORIES}" and sum(map(bool, categories.values())) > 1:
        rows.append([choice(kind, count, view, space) for kind, count in categories.items() if count])
    kinds = {kind: known.kinds.get(CHOSEN[kind].kind or "") for kind in KINDS}
    if view.chosen in f"af{KINDS}" and sum(map(bool, kinds.values())) > 1:
        rows += by_four([choice(kind, count, view, space) for kind, count in kinds.items() if count])
    if known.people:
        rows.append([button("👥 By person", ListPeople(space))])
    return rows


def choice(kind: str, count: int | None, view: View, space: int) -> Button:
    """A button that chooses a filter; the present one is marked."""
    mark = "• " if kind == view.chosen else ""
    return button(f"{mark}{NAMES[kind]}{f' {count}' if count else ''}", ListMemories(space, View(kind)))


def below(known: MemoryPage, space: int) -> list[Button]:
    """The ways to the changes."""
    row = (
        [button("🕘 Changes", ListChanges(space, HistoryView())), button("⚙️", ShowControls(space))]
        if known.space_id
        else []
    )
    return (
        [*row, button(f"⏳ {known.pending} waiting", ListChanges(space, HistoryView(waiting=True)))]
        if known.pending
        else row
    )


def people_page(known: MemoryPage, place: str) -> Page:
    """The people of a group about whom something is known, each a button."""
    space = known.space_id or 0
    people = [
        button(f"{shorten(one.name or '?', 24)} · {one.memories}", ListMemories(space, View(f"u{one.id}")))
        for one in known.people
    ]
    pairs = [people[n : n + 2] for n in range(0, len(people), 2)]
    text = f"**Whom I know{place}**" + ("" if people else "\n\nNobody yet.")
    return Page(text, [*pairs, [button("‹ All", ListMemories(space, View()))]])


def history_page(found: ChangePage, waiting: bool, place: str, zone: tzinfo) -> Page:
    """The changes of a space, each with what can be decided about it."""
    space, total = found.space_id or 0, found.pending if waiting else found.total
    page, pages = found.offset // PAGE + 1, pages_of(total)
    what = "What waits for your tap" if waiting else "Changes"
    head = f"**{what}{place}** ({total}{f', page {page} of {pages}' if pages > 1 else ''})"
    lines = [
        f"- **{number}** · {moment(change.at, zone)} · {escape_markdown(history_line(change, place))}"
        for number, change in enumerate(found.changes, 1)
    ]
    view = HistoryView(waiting, page)
    rows = decisions(found.changes, view)
    if waiting and total > 1:
        rows.append(
            [
                button(f"✅ Keep all {total}", DecideWaiting(space, "k")),
                button("✖ Discard all", DecideWaiting(space, "x")),
            ]
        )
    rows.append(turning(page, pages, lambda page: ListChanges(space, replace(view, page=page))))
    ways = [button("‹ What I know", ListMemories(space, View()))]
    if waiting:
        ways.append(button("🕘 All changes", ListChanges(space, HistoryView())))
    elif found.pending:
        ways.append(button(f"⏳ {found.pending} waiting", ListChanges(space, HistoryView(waiting=True))))
    rows.append(ways)
    text = "\n".join(lines) or ("Nothing is waiting for your tap." if waiting else "Nothing has changed yet.")
    return Page(f"{head}\n\n{text}", [row for row in rows if row])


def history_line(change: PastChange, place: str) -> str:
    """One change in words, with what became of it."""
    subject = f"{shorten(change.subject, 30)}: " if place and change.subject else ""
    change = replace(change, content=shorten(subject + change.content))
    if change.status in ("undone", "discarded"):
        return f"{done_line(change)} – {change.status}"
    return change_line(change)


def decisions(changes: Sequence[PastChange], view: HistoryView) -> list[list[Button]]:
    """What a person can decide about changes, by their place in the list."""
    rows: list[list[Button]] = []
    undo: list[Button] = []
    for number, change in enumerate(changes, 1):
        if change.yours and change.status == "applied":
            undo.append(button(f"↩ Undo {number}", DecideInList(change.id, "u", view)))
        elif change.yours and change.status == "pending":
            keep = "🗑 Forget" if change.action == "forget" else "✅ Keep"
            discard = button(f"✖ Discard {number}", DecideInList(change.id, "x", view))
            rows.append([button(f"{keep} {number}", DecideInList(change.id, "k", view)), discard])
    return [*rows, *by_four(undo)]


def turning(page: int, pages: int, to: Callable[[int], Callback]) -> list[Button]:
    """The buttons that turn pages; none where there is one page only. The page's own number shows it anew."""
    if pages < 2:
        return []
    back = [button("«", to(1)), button("‹", to(page - 1))] if page > 1 else []
    on = [button("›", to(page + 1)), button("»", to(pages))] if page < pages else []
    return [*back, button(f"page {page} of {pages}", to(page)), *on]


def by_four(buttons: list[Button]) -> list[list[Button]]:
    """Buttons in rows that a phone shows in full."""
    return [buttons[n : n + 4] for n in range(0, len(buttons), 4)]


def waits(count: int) -> str:
    """A line about what waits for a tap, if anything does."""
    return f"\n\n⏳ {count} wait{'s' if count == 1 else ''} for your tap." if count else ""


def pages_of(count: int) -> int:
    """How many pages so many entries fill; one at least."""
    return max(1, -(-count // PAGE))


def within(text: str, units: int) -> str:
    """A text cut to so many UTF-16 units, as Telegram counts."""
    data = text.encode("utf-16-le", "replace")
    if len(data) <= 2 * units:
        return text
    return data[: 2 * units - 2].decode("utf-16-le", "ignore").rstrip() + "…"
