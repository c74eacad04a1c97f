"""What a search found, opened: what was said around a message; a memory or a summary as it is. Pure."""

from __future__ import annotations

from relay.core.text import escape_markdown, shorten
from relay.memory.ids import LETTERS
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory.cards import name_of, quote
from relay.surfaces.chat.memory_pages import View, within
from relay.surfaces.chat.reply import Json, button
from relay.surfaces.chat.times import day, moment

CALLED = {"memory": "🧠 memory", "summary": "📋 summary"}


def target(row: Json) -> str:
    """What a button calls a result: a message by its number alone."""
    return str(row["id"]) if row["kind"] == "message" else f"{LETTERS[row['kind']]}{row['id']}"


def known_heading(call: ChatContext, row: Json) -> str:
    """What a memory or summary is, since when, about whom and from where."""
    parts = [moment(row["at"], call.zone), f"{CALLED[row['kind']]} #{row['number']}"]
    if row.get("subject") and call.space.kind == "group":
        parts.append(f"about {escape_markdown(shorten(row['subject'], 40))}")
    if row.get("status") not in (None, "active"):
        parts.append(row["status"])
    if row.get("valid_until"):
        parts.append(f"until {day(row['valid_until'], call.zone)}")
    if row["place"]:
        parts.append(escape_markdown(shorten(row["place"], 60)))
    return " · ".join(parts)


def known_page(call: ChatContext, found: Json, back: Json) -> tuple[str, list[list[Json]]]:
    """A memory or summary in full, and its buttons."""
    lines = [f"**{known_heading(call, found)}**", quote(within(found["content"], 2400))]
    rows = [[back]]
    if found["kind"] == "summary":
        if found["from_at"] and found["through_at"]:
            lines.append(f"Of {found['messages']} messages, until {moment(found['through_at'], call.zone)}.")
        return "\n\n".join(lines), rows
    for row in found["sources"][:2]:
        who = "I" if row["role"] == "assistant" else name_of(row["user_id"], row["name"], call.user_id)
        lines.append(f"{who} said, {moment(row['at'], call.zone)}:\n{quote(within(row['text'], 400)) or '(no words)'}")
    if call.private:
        rows.insert(0, [button(f"Open #{found['number']}", f"mo:{found['id']}:{View()}")])
    return "\n\n".join(lines), rows
