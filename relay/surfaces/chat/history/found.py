"""Renders memories and summaries in search results. Pure."""

from __future__ import annotations

from datetime import datetime

from relay.core.text import escape_markdown, shorten
from relay.memory.rows.opened import OpenedMemory, OpenedSummary
from relay.memory.rows.search import KnownHit
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory.cards import name_of, quote
from relay.surfaces.chat.memory_pages import within
from relay.surfaces.chat.times import day, moment

LABELS = {"memory": "🧠 memory", "summary": "📋 summary"}


def known_heading(call: ChatContext, hit: KnownHit) -> str:
    """Returns the heading of a memory or summary in a list of results."""
    status = hit.status if hit.status != "active" else None
    return heading(call, hit.kind, hit, hit.subject, status, hit.valid_until)


def memory_page(call: ChatContext, found: OpenedMemory) -> str:
    """Renders a memory in full, with two of its source messages."""
    status = found.status if found.status != "active" else None
    title = heading(call, "memory", found, found.subject, status, found.valid_until)
    lines = [f"**{title}**", quote(within(found.content, 2400))]
    for row in found.sources[:2]:
        who = "I" if row.role == "assistant" else name_of(row.user_id, row.name, call.user_id)
        lines.append(f"{who} said, {moment(row.at, call.zone)}:\n{quote(within(row.text, 400)) or '(no words)'}")
    return "\n\n".join(lines)


def summary_page(call: ChatContext, found: OpenedSummary) -> str:
    """Renders a summary in full, with the range it covers."""
    lines = [f"**{heading(call, 'summary', found)}**", quote(within(found.content, 2400))]
    if found.from_at and found.through_at:
        lines.append(f"Covers {found.messages} messages until {moment(found.through_at, call.zone)}.")
    return "\n\n".join(lines)


def heading(
    call: ChatContext,
    kind: str,
    known: KnownHit | OpenedMemory | OpenedSummary,
    subject: str | None = None,
    status: str | None = None,
    until: datetime | None = None,
) -> str:
    """Says what a result is, its date, subject and place. `status`: if it is not active."""
    parts = [moment(known.at, call.zone), f"{LABELS[kind]} #{known.number}"]
    if subject and call.space.kind == "group":
        parts.append(f"about {escape_markdown(shorten(subject, 40))}")
    if status:
        parts.append(status)
    if until:
        parts.append(f"until {day(until, call.zone)}")
    if known.place:
        parts.append(escape_markdown(shorten(known.place, 60)))
    return " · ".join(parts)
