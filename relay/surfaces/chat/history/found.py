"""Shows a memory or summary that a search found. Pure."""

from __future__ import annotations

from relay.core.text import escape_markdown, shorten
from relay.memory.rows.search import KnownHit
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory.cards import name_of, quote
from relay.surfaces.chat.memory_buttons import OpenMemory, View
from relay.surfaces.chat.memory_pages import within
from relay.surfaces.chat.reply import Json, button
from relay.surfaces.chat.times import day, moment

CALLED = {"memory": "🧠 memory", "summary": "📋 summary"}


def known_heading(call: ChatContext, hit: KnownHit) -> str:
    """What a memory or summary is, since when, about whom and from where."""
    parts = [moment(hit.at, call.zone), f"{CALLED[hit.kind]} #{hit.number}"]
    if hit.subject and call.space.kind == "group":
        parts.append(f"about {escape_markdown(shorten(hit.subject, 40))}")
    if hit.status not in (None, "active"):
        parts.append(hit.status)
    if hit.valid_until:
        parts.append(f"until {day(hit.valid_until, call.zone)}")
    if hit.place:
        parts.append(escape_markdown(shorten(hit.place, 60)))
    return " · ".join(parts)


def known_page(call: ChatContext, found: Json, back: Json) -> tuple[str, list[list[Json]]]:
    """A memory or summary in full, and its buttons."""
    hit = KnownHit(
        found["kind"], found["id"], found["number"], found["at"], found.get("subject"), found.get("status"),
        found.get("valid_until"), found["place"], found["content"],
    )  # fmt: skip
    lines = [f"**{known_heading(call, hit)}**", quote(within(found["content"], 2400))]
    rows = [[back]]
    if found["kind"] == "summary":
        if found["from_at"] and found["through_at"]:
            lines.append(f"Of {found['messages']} messages, until {moment(found['through_at'], call.zone)}.")
        return "\n\n".join(lines), rows
    for row in found["sources"][:2]:
        who = "I" if row["role"] == "assistant" else name_of(row["user_id"], row["name"], call.user_id)
        lines.append(f"{who} said, {moment(row['at'], call.zone)}:\n{quote(within(row['text'], 400)) or '(no words)'}")
    if call.private:
        rows.insert(0, [button(f"Open #{found['number']}", OpenMemory(found["id"], View()))])
    return "\n\n".join(lines), rows
