"""One memory as a page with buttons, and where it came from. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from relay.core.models import Button
from relay.core.text import escape_markdown, escape_sentence, pluralize, shorten
from relay.memory.rows.changes import MemoryPast
from relay.memory.rows.memories import MemorySource, OpenedMemory
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.memory_buttons import (
    EditMemory,
    ForgetMemory,
    HistoryView,
    ListChanges,
    ListMemories,
    ListPast,
    OpenMemory,
    PinMemory,
    RestoreMemory,
    RestoreWording,
    TraceMemory,
    UndoInCard,
    UnpinMemory,
    View,
)
from relay.surfaces.chat.memory_pages import PAGE, Page, by_four, history_line, pages_of, turning, within
from relay.surfaces.chat.reply import button
from relay.surfaces.chat.times import moment

AROUND = 600
"""Characters of a source that are quoted."""
KINDS = {
    "fact": "Fact",
    "preference": "Preference",
    "decision": "Decision",
    "event": "Event",
    "person": "Person",
    "goal": "Goal",
    "feeling": "Feeling",
    "learning": "Learning",
}
UNDO = {
    "supersede": "↩ Undo the replacing",
    "merge": "↩ Undo the replacing",
    "archive": "↩ Undo putting away",
    "restore": "↩ Undo restoring",
    "refresh": "↩ Undo the rewording",
    "forget": "↩ Undo forgetting",
    "pin": "↩ Undo pinning",
    "unpin": "↩ Undo unpinning",
}
BY_SOMEBODY = {"forward": "forwarded from ", "bot": "sent through the bot "}
WORDS_OF = {
    "caption": "the caption of a file",
    "reply": "a replied-to file",
    "paid media": "paid media",
    "users shared": "shared people",
}
"""What holds words of others, by the marks of blocks; any other mark is a noun itself."""
STATUS = {
    "pending": "⏳ It waits for a tap: I do not use it yet.",
    "superseded": "⇢ Something newer took its place: I do not use it any more.",
    "archived": "🗄 It is put away: I do not use it, and it can be found.",
    "forgotten": "🧠 It is forgotten: I do not use it any more.",
    "discarded": "✖ It was undone or discarded: I do not use it.",
}


def card(row: OpenedMemory, view: View, zone: tzinfo, viewer: int, yours: bool, note: str = "") -> Page:
    """A memory in full. `yours`: this person may change it. `note`: a line about what was just done."""
    about = f" about {escape_markdown(shorten(row.subject, 60))}" if row.subject else ""
    kind = KINDS.get(row.kind, "Fact")
    lines = [f"- learned {moment(row.created_at, zone)}: {learned_how(row, viewer)}", *life(row, zone)]
    if row.updated_at != row.created_at:
        lines.append(f"- last changed {moment(row.updated_at, zone)}")
    if row.category:
        lines.append(f"- category: {escape_markdown(within(row.category, 80))}")
    if row.tags:
        lines.append(f"- tags: {escape_markdown(within(', '.join(map(str, row.tags)), 450))}")
    head = f"**{'📌 ' if row.pinned else ''}{kind} #{row.number}{about}**"
    notes = [STATUS.get(row.status, ""), note]
    if row.status == "active" and not yours:
        notes.append("It is changed by whom it is about, or by the people who run me.")
    below = "".join(f"\n\n{escape_sentence(one)}" for one in notes if one)
    text = f"{head}\n\n{quote(within(row.content, 2900))}\n\n" + "\n".join(lines) + below
    return Page(text, card_buttons(row, view, yours))


def life(row: OpenedMemory, zone: tzinfo) -> list[str]:
    """How much a memory counts, from when until when it holds, and how often it was used."""
    sure = f", {100 * row.confidence:.0f} % sure" if row.confidence < 1 else ""
    lines = [f"- importance: {row.importance} of 10{sure}"]
    since, until = row.valid_from, row.valid_until
    if until:
        ends = "deadline" if row.kind == "goal" else "holds until"
        lines.append(f"- {ends}: {moment(until, zone)}" + (f", since {moment(since, zone)}" if since else ""))
    elif since:
        lines.append(f"- holds since {moment(since, zone)}")
    if row.uses and row.last_used_at:
        lines.append(f"- used {pluralize(row.uses, 'time')}, last {moment(row.last_used_at, zone)}")
    if row.faded and row.status == "active":
        lines.append("- of no use for half a year: no prompt carries it, searching finds it")
    if row.evidence:
        lines.append(f"- said in {pluralize(row.evidence, 'message')}")
    if row.replaced_by:
        lines.append(f"- replaced by #{row.replaced_number}")
    return lines


def card_buttons(row: OpenedMemory, view: View, yours: bool) -> list[list[Button]]:
    """What can be done with a memory, and the way back to the list."""
    number, rows = row.id, []
    if yours and row.status == "active":
        pin = button("Unpin", UnpinMemory(number, view)) if row.pinned else button("📌 Pin", PinMemory(number, view))
        rows.append([button("✎ Edit", EditMemory(number)), button("🗑 Forget", ForgetMemory(number, view)), pin])
    more = [button("Where from", TraceMemory(number, view)), button("🕘 History", ListPast(number, 1))]
    if row.replaced_by:
        more.append(button("⇢ What replaced it", OpenMemory(row.replaced_by, view)))
    if yours and row.status in ("archived", "superseded"):
        more.append(button("♻ Restore", RestoreMemory(number, view)))
    if row.last and row.last.action in UNDO:
        more.append(button(UNDO[row.last.action], UndoInCard(row.last.id, view)))
    if row.status == "pending":
        more.append(button("⏳ Keep or discard…", ListChanges(row.space_id, HistoryView(waiting=True))))
    return [
        *rows,
        *[more[n : n + 2] for n in range(0, len(more), 2)],
        [button("‹ Back", ListMemories(row.space_id, view))],
    ]


def learned_how(row: OpenedMemory, viewer: int) -> str:
    """By what a memory came about."""
    if row.by == "user":
        who = "you" if row.subject_id == viewer else escape_markdown(shorten(row.subject or "somebody", 60))
        return f"{who} told me to keep it"
    if row.by == "promoted":
        return "you kept a message" if row.promoted_by == viewer else "somebody kept a message"
    if row.tainted:
        kept = "kept after a tap" if row.status == "active" else "it waited for a tap"
        return f"I noticed it beside what others wrote; {kept}"
    return "I noticed it in a conversation"


def past_page(row: OpenedMemory, past: MemoryPast, yours: bool, zone: tzinfo, note: str = "") -> Page:
    """What became of a memory, newest first, with what it said before to be said again. `yours`: this person may."""
    page, pages = past.offset // PAGE + 1, pages_of(past.total)
    lines = [
        f"- **{number}** · {moment(change.at, zone)} · {escape_markdown(history_line(change, ''))}"
        for number, change in enumerate(past.changes, 1)
    ]
    at = f" ({page} of {pages})" if pages > 1 else ""
    text = f"**History of #{row.number}**{at}\n\n{quote(within(row.content, 300))}\n\n" + "\n".join(lines)
    restores = [
        button(f"♻ Restore {number}", RestoreWording(row.id, change.id, page))
        for number, change in enumerate(past.changes, 1)
        if yours and change.restores
    ]
    rows = [*by_four(restores), turning(page, pages, lambda page: ListPast(row.id, page))]
    rows.append([button("‹ Back", OpenMemory(row.id, View()))])
    return Page(text + (f"\n\n{escape_sentence(note)}" if note else ""), [buttons for buttons in rows if buttons])


def origin(row: OpenedMemory, source: MemorySource, view: View, zone: tzinfo, viewer: int, chat: str) -> Page:
    """Where a memory came from. `chat`: the name of the group in which that was, if it is known."""
    said, where = source.said, place_of(source, chat)
    lines = [f"**Where #{row.number} is from**", quote(within(row.content, 300))]
    if source.elsewhere:
        lines.append("It was said in a place that is not shown here.")
    elif said is not None:
        who = "I" if said.role == "assistant" else name_of(said.user_id, said.name, viewer)
        lines.append(f"{who} said, {moment(said.at, zone)}{where}:")
        lines.append(quote(around(said.text, row.content)) if said.text.strip() else "(nothing in words)")
    elif row.by == "user":
        who = name_of(row.subject_id, row.subject, viewer)
        lines.append(f"{who} told me with /remember, {moment(source.at, zone)}{where}.")
    else:
        lines.append(f"Learned {moment(source.at, zone)}{where}. The message that taught it is gone.")
    if row.tainted and not source.elsewhere:
        lines.append(f"It came with what others wrote: {escape_markdown(foreign(source))}.")
    if source.answer is not None and not source.elsewhere:
        lines.append(f"My answer, {moment(source.answer.at, zone)}, noted it:")
        lines.append(quote(around(source.answer.text, row.content, AROUND // 2)))
    link = link_to(source.posted, source.topic_id)
    if link:
        lines.append(f"[Go to the message]({link})")
    back = [button("‹ Back", OpenMemory(row.id, view))]
    return Page("\n\n".join(line for line in lines if line), [back])


def name_of(user_id: int | None, name: str | None, viewer: int) -> str:
    """Who said something, to the one who asks."""
    return "You" if user_id == viewer else escape_markdown(shorten(name or "Somebody", 60))


def place_of(source: MemorySource, chat: str) -> str:
    """The chat and topic in which a memory was learned, as far as they are known."""
    if source.chat_id is None:
        return ""
    if source.chat_id == 0:
        return " in the terminal"
    group = escape_markdown(f"“{shorten(chat, 60)}”") if chat else "a group"
    topic = escape_markdown(f"“{shorten(source.topic, 60)}”") if source.topic else ""
    where = " in our private chat" if source.chat_id > 0 else f" in {group}"
    return where + (f", topic {topic}" if topic else "")


def foreign(source: MemorySource) -> str:
    """Which words of others a turn read."""
    parts = source.said.foreign if source.said else ()
    found = []
    for part in parts:
        kind = str(part.kind or "text").replace("_", " ")
        by = f" of {part.author}" if part.author else ""
        if kind in BY_SOMEBODY:
            found.append(BY_SOMEBODY[kind] + (part.author or "somebody"))
        else:
            found.append(WORDS_OF.get(kind, f"a {kind}") + by)
    if any(str(tool).startswith("web_") for tool in source.tools or []):
        found.append("web pages that I read")
    replied = source.reply_to
    if replied and not replied.own:
        found.append(f"a message of {replied.by or 'somebody'} that was replied to")
    return within("; ".join(dict.fromkeys(found)), 200) or "earlier in that conversation"


def around(text: str, about: str, length: int = AROUND) -> str:
    """So much of a text as stands around the first of another's longest words."""
    if len(text) <= length:
        return text
    lower = text.lower()
    words: Sequence[str] = sorted(about.lower().split(), key=len, reverse=True)
    found = next((at for word in words if len(word) > 3 and (at := lower.find(word)) >= 0), 0)
    start = max(0, min(found - length // 3, len(text) - length))
    end = start + length
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def quote(text: str) -> str:
    """A text as a quote that shows just it, line by line."""
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    # The first character as a reference, so that a line is no list, rule or heading.
    return "\n".join(f"> &#{ord(line[0])};{' ' * (line[1:2] == ' ')}{escape_markdown(line[1:])}" for line in lines)
