"""Renders memories and other artefacts in search results. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.text import escape_markdown, shorten
from relay.memory.derivations.artefacts import artefact_kind
from relay.memory.rows.search import KnownHit
from relay.memory.rows.search_context import ContextMessage, OpenedArtefact, OpenedMemory, OpenedSummary
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory.origin import name_of, quote
from relay.surfaces.chat.memory_pages import cut_units
from relay.surfaces.chat.times import day, moment


def format_known_heading(call: ChatContext, hit: KnownHit) -> str:
    """Returns the heading of a memory or another artefact in a list of results."""
    status = hit.status if hit.status != "active" else None
    return format_heading(call, hit.kind, hit, hit.title, hit.subject, status, hit.valid_until)


def memory_page(call: ChatContext, found: OpenedMemory) -> str:
    """Renders a memory in full, with two of its source messages."""
    status = found.status if found.status != "active" else None
    title = format_heading(call, "memory", found, None, found.subject, status, found.valid_until)
    lines = [f"**{title}**", quote(cut_units(found.content, 2400))]
    return "\n\n".join([*lines, *sources(call, found.sources)])


def artefact_page(call: ChatContext, found: OpenedArtefact) -> str:
    """Renders an artefact in full, with two of its source messages."""
    lines = [f"**{format_heading(call, found.kind, found, found.title)}**", quote(cut_units(found.content, 2400))]
    return "\n\n".join([*lines, *sources(call, found.sources)])


def sources(call: ChatContext, rows: Sequence[ContextMessage]) -> list[str]:
    """Quotes the first two source messages, each with its author and time."""
    told = []
    for row in rows[:2]:
        who = "I" if row.role == "assistant" else name_of(row.user_id, row.name, call.user_id)
        told.append(f"{who} said, {moment(row.at, call.zone)}:\n{quote(cut_units(row.text, 400)) or '(no words)'}")
    return told


def summary_page(call: ChatContext, found: OpenedSummary) -> str:
    """Renders a summary in full, with the range it covers."""
    lines = [f"**{format_heading(call, 'summary', found, found.title)}**", quote(cut_units(found.content, 2400))]
    if found.from_at and found.through_at:
        lines.append(f"Covers {found.messages} messages until {moment(found.through_at, call.zone)}.")
    return "\n\n".join(lines)


def format_heading(
    call: ChatContext,
    kind: str,
    known: KnownHit | OpenedMemory | OpenedSummary | OpenedArtefact,
    title: str | None,
    subject: str | None = None,
    status: str | None = None,
    until: datetime | None = None,
) -> str:
    """Says what a result is, its date, subject and place. `title`: if it has one. `status`: if it is not active."""
    named = artefact_kind(kind)
    name = escape_markdown(title) if title else f"{kind} #{known.number}"
    parts = [moment(known.at, call.zone), f"{named.icon if named else ''} {name}".strip()]
    if subject and call.space.kind == "group":
        parts.append(f"about {escape_markdown(shorten(subject, 40))}")
    if status:
        parts.append(status)
    if until:
        parts.append(f"until {day(until, call.zone)}")
    if known.place:
        parts.append(escape_markdown(shorten(known.place, 60)))
    return " · ".join(parts)
