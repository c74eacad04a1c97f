"""Renders one memory as a page with buttons, its history and its origin. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from relay.commands.memory.browse import PAGE
from relay.core.models import Button
from relay.core.text import escape_markdown, escape_sentence, pluralize, shorten
from relay.memory.rows.changes import MemoryPast
from relay.memory.rows.memories import MemorySource, OpenedMemory
from relay.surfaces.chat import memory_buttons as buttons
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.memory_pages import cut_units, history_lines, page_buttons, pages_of
from relay.surfaces.chat.memory_views import HistoryView, View
from relay.surfaces.chat.reply import CommandReply, arrange, button
from relay.surfaces.chat.times import moment

AROUND = 600
"""Characters of a source to quote."""
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
BY_SOMEBODY = {"forward": "forwarded from ", "bot": "sent through the bot "}
WORDS_OF = {
    "caption": "the caption of a file",
    "reply": "a replied-to file",
    "paid media": "paid media",
    "users shared": "shared people",
}
"""Names of block marks in which other people's words can be; any other mark is its own name."""
STATUS = {
    "pending": "⏳ Waiting for a tap; I'm not using it yet.",
    "superseded": "⇢ Replaced by something newer; I no longer use it.",
    "archived": "🗄 Archived; I don't use it, but search finds it.",
    "forgotten": "🧠 Forgotten; I no longer use it.",
    "discarded": "✖ Undone or discarded; I'm not using it.",
}


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
        rows.append([button("✎ Edit", buttons.EditMemory(number))])
    if yours and row.status == "active":
        pin = (
            button("Unpin", buttons.UnpinMemory(number, view))
            if row.pinned
            else button("📌 Pin", buttons.PinMemory(number, view))
        )
        rows.append([button("✎ Edit", buttons.EditMemory(number))] if edits else [])
        rows[-1] += [button("🗑 Forget", buttons.ForgetMemory(number, view)), pin]
        if not row.validated_at:
            rows[-1].append(button("✔ Confirm", buttons.ValidateMemory(number, view)))
    more = [button("Source", buttons.TraceMemory(number, view)), button("🕘 History", buttons.ListPast(number, 1))]
    if row.replaced_by:
        more.append(button("⇢ What replaced it", buttons.OpenMemory(row.replaced_by, view)))
    if yours and row.status in ("archived", "superseded"):
        more.append(button("♻ Restore", buttons.RestoreMemory(number, view)))
    if row.last and row.last.action in UNDO:
        more.append(button(UNDO[row.last.action], buttons.UndoInCard(row.last.id, view)))
    if row.status == "pending":
        more.append(button("⏳ Keep or discard…", buttons.ListChanges(row.space_id, HistoryView(waiting=True))))
    return [*rows, *arrange(more, 2), [button("‹ Back", buttons.ListMemories(row.space_id, view))]]


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
    page, pages = past.offset // PAGE + 1, pages_of(past.total)
    at = f" ({page} of {pages})" if pages > 1 else ""
    lines = history_lines(past.changes, "", zone)
    text = f"**History of #{row.number}**{at}\n\n{quote(cut_units(row.content, 300))}\n\n{lines}"
    restores = [
        button(f"♻ Restore {number}", buttons.RestoreWording(row.id, change.id, page))
        for number, change in enumerate(past.changes, 1)
        if yours and change.restores
    ]
    rows = [*arrange(restores, 4), page_buttons(page, pages, lambda page: buttons.ListPast(row.id, page))]
    rows.append([button("‹ Back", buttons.OpenMemory(row.id, View()))])
    said = f"\n\n{escape_sentence(note)}" if note else ""
    return CommandReply(text + said, rows=[one for one in rows if one])


def origin(row: OpenedMemory, source: MemorySource, view: View, zone: tzinfo, viewer: int, chat: str) -> CommandReply:
    """Shows where a memory came from. `chat`: the group's name, if it is known."""
    said, where = source.said, place_of(source, chat)
    lines = [f"**Where #{row.number} is from**", quote(cut_units(row.content, 300))]
    if source.elsewhere:
        lines.append("It comes from another chat, which I don't show here.")
    elif said is not None:
        who = "I" if said.role == "assistant" else name_of(said.user_id, said.name, viewer)
        lines.append(f"{who} said, {moment(said.at, zone)}{where}:")
        lines.append(quote(cut_around(said.text, row.content)) if said.text.strip() else "(no text)")
    elif row.by == "user":
        who = name_of(row.subject_id, row.subject, viewer)
        lines.append(f"{who} told me with /remember, {moment(source.at, zone)}{where}.")
    else:
        lines.append(f"Learned {moment(source.at, zone)}{where}. The original message is gone.")
    if row.tainted and not source.elsewhere:
        lines.append(f"The message included other people's words: {escape_markdown(foreign(source))}.")
    if source.answer is not None and not source.elsewhere:
        lines.append(f"I noted it in my answer of {moment(source.answer.at, zone)}:")
        lines.append(quote(cut_around(source.answer.text, row.content, AROUND // 2)))
    link = link_to(source.posted, source.topic_id)
    if link:
        lines.append(f"[Go to the message]({link})")
    back = [button("‹ Back", buttons.OpenMemory(row.id, view))]
    return CommandReply("\n\n".join(line for line in lines if line), rows=[back])


def name_of(user_id: int | None, name: str | None, viewer: int) -> str:
    """Names the author of a message, for the person who asks."""
    return "You" if user_id == viewer else escape_markdown(shorten(name or "Someone", 60))


def place_of(source: MemorySource, chat: str) -> str:
    """Names the chat and topic in which a memory was learned, if they are known."""
    if source.chat_id is None:
        return ""
    if source.chat_id == 0:
        return " in the terminal"
    group = escape_markdown(f"“{shorten(chat, 60)}”") if chat else "a group"
    topic = escape_markdown(f"“{shorten(source.topic, 60)}”") if source.topic and source.topic_id else ""
    where = " in our private chat" if source.chat_id > 0 else f" in {group}"
    return where + (f", topic {topic}" if topic else "")


def foreign(source: MemorySource) -> str:
    """Lists the other people's words that a turn read."""
    parts = source.said.foreign if source.said else ()
    found = []
    for part in parts:
        kind = str(part.kind or "text").replace("_", " ")
        by = f" by {part.author}" if part.author else ""
        if kind in BY_SOMEBODY:
            found.append(BY_SOMEBODY[kind] + (part.author or "someone"))
        else:
            found.append(WORDS_OF.get(kind, f"a {kind}") + by)
    if any(str(tool).startswith("web_") for tool in source.tools or []):
        found.append("web pages that I read")
    replied = source.reply_to
    if replied and not replied.own:
        found.append(f"a message by {replied.by or 'someone'} that was replied to")
    return cut_units("; ".join(dict.fromkeys(found)), 200) or "earlier in that conversation"


def cut_around(text: str, about: str, length: int = AROUND) -> str:
    """Returns the part of a text around the longest word that it shares with another."""
    if len(text) <= length:
        return text
    lower = text.lower()
    words: Sequence[str] = sorted(about.lower().split(), key=len, reverse=True)
    found = next((at for word in words if len(word) > 3 and (at := lower.find(word)) >= 0), 0)
    start = max(0, min(found - length // 3, len(text) - length))
    end = start + length
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def quote(text: str) -> str:
    """Quotes a text verbatim in Markdown, line by line."""
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    # The first character is a reference, so that the line does not become a list, rule or heading.
    return "\n".join(f"> &#{ord(line[0])};{' ' * (line[1:2] == ' ')}{escape_markdown(line[1:])}" for line in lines)
