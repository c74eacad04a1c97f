"""Opened search results, formatted for the model. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo

from relay.core.models import Incoming
from relay.core.prompt_markup import call_person, clean_name, mark_untrusted, neutralize_markup
from relay.memory.derivations.artefacts import id_of
from relay.memory.rows.search_context import (
    ContextMessage,
    Opened,
    OpenedArtefact,
    OpenedMemory,
    OpenedMessage,
    OpenedPart,
    OpenedSummary,
)

Told = dict[str, object]
"""A tool's result before it becomes JSON."""


def is_foreign(untrusted: bool, user_id: int | None, incoming: Incoming) -> bool:
    """Tests whether something counts as others' words: untrusted text, and in a group everything not by the speaker."""
    return untrusted or (incoming.space.kind == "group" and user_id != incoming.user_id)


def format_opened(found: Opened, incoming: Incoming, zone: tzinfo) -> tuple[Told, bool]:
    """Formats what the model opened, and returns whether any of it is by others."""
    match found:
        case OpenedMessage():
            return format_around(found, incoming, zone)
        case OpenedMemory():
            return memory(found, incoming, zone)
        case OpenedSummary():
            return summary(found, incoming, zone)
        case OpenedPart():
            return part(found, incoming, zone)
        case OpenedArtefact():
            return artefact(found, incoming, zone)


def summary(found: OpenedSummary, incoming: Incoming, zone: tzinfo) -> tuple[Told, bool]:
    """Formats a summary with its range; a group's comes from several people."""
    strange = is_foreign(found.untrusted, None, incoming)
    told = {
        "id": id_of("summary", found.id),
        "place": place_of(found.place),
        "written": moment_of(found.at, zone),
        "messages": found.messages,
        "from": {"id": id_of("message", found.from_id), "at": moment_of(found.from_at, zone)},
        "through": {"id": id_of("message", found.through_id), "at": moment_of(found.through_at, zone)},
        "text": text_of(found.content, strange),
    }
    return present(told), strange


def artefact(found: OpenedArtefact, incoming: Incoming, zone: tzinfo) -> tuple[Told, bool]:
    """Formats an artefact with the first of the messages that it was made from."""
    strange = is_foreign(found.untrusted, None, incoming)
    told = {
        "id": id_of(found.kind, found.id),
        "place": place_of(found.place),
        "written": moment_of(found.at, zone),
        "by": found.by,
        "text": text_of(found.content, strange),
        "made_from": [format_message(row, incoming, zone) for row in found.sources],
    }
    return present(told), strange or any(is_foreign(row.untrusted, row.user_id, incoming) for row in found.sources)


def part(found: OpenedPart, incoming: Incoming, zone: tzinfo) -> tuple[Told, bool]:
    """Formats a document part."""
    strange = is_foreign(found.untrusted, found.user_id, incoming)
    told = {
        "id": id_of("part", found.id, found.part),
        "place": place_of(found.place),
        "document": clean_name(found.document),
        "part": f"{found.part} of {found.parts}",
        "sent_by": call_person(found.user_id, found.name or "the user", incoming.people),
        "at": moment_of(found.at, zone),
        "message": id_of("message", found.message_id),
        "text": text_of(found.content, strange),
    }
    return present(told), strange


def format_around(found: OpenedMessage, incoming: Incoming, zone: tzinfo) -> tuple[Told, bool]:
    """Formats a message with its neighbours."""
    told = {
        "id": id_of("message", found.id),
        "place": place_of(found.place),
        "messages": [format_message(row, incoming, zone) for row in found.messages],
    }
    return present(told), any(is_foreign(row.untrusted, row.user_id, incoming) for row in found.messages)


def memory(found: OpenedMemory, incoming: Incoming, zone: tzinfo) -> tuple[Told, bool]:
    """Formats a memory with its origin and earlier texts."""
    strange = is_foreign(found.untrusted, found.subject_id, incoming)
    told = {
        "id": id_of("memory", found.id),
        "text": text_of(found.content, strange),
        "about": call_person(found.subject_id, found.subject, incoming.people) if found.subject else None,
        "type": found.type,
        "importance": found.importance,
        "confidence": found.confidence,
        "pinned": found.pinned,
        "status": found.status,
        "by": found.by,
        "promoted": found.promoted,
        "category": clean_name(found.category) if found.category else None,
        "tags": [clean_name(tag) for tag in found.tags],
        "since": moment_of(found.at, zone),
        "changed": moment_of(found.updated_at, zone) if found.updated_at != found.at else None,
        "valid_from": moment_of(found.valid_from, zone),
        "valid_until": moment_of(found.valid_until, zone),
        "place": place_of(found.place),
        "learned_from": [format_message(row, incoming, zone) for row in found.sources],
        "before": [{"until": moment_of(was.until, zone), "text": text_of(was.said, strange)} for was in found.before],
    }
    return present(told), strange or any(is_foreign(row.untrusted, row.user_id, incoming) for row in found.sources)


def format_message(row: ContextMessage, incoming: Incoming, zone: tzinfo) -> Told:
    """Formats one message."""
    strange = is_foreign(row.untrusted, row.user_id, incoming)
    who = call_person(row.user_id, row.name or "the user", incoming.people)
    return present(
        {
            "id": id_of("message", row.id),
            "at": moment_of(row.at, zone),
            "who": "you" if row.role == "assistant" else who,
            "untrusted": strange or None,
            "text": text_of(row.text + (" […]" if row.cut else ""), strange),
        }
    )


def place_of(name: str | None) -> str:
    """Returns the name of a group or topic, cleaned because someone chose it."""
    return clean_name(name) if name else ""


def text_of(text: str, strange: bool) -> str:
    """Delimits a text as data if others wrote it."""
    return mark_untrusted(text, "recalled") if strange else neutralize_markup(text)


def moment_of(at: datetime | None, zone: tzinfo) -> str | None:
    """Formats a time in a zone, to the minute."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}" if at else None


def present(told: Mapping[str, object]) -> Told:
    """Removes empty fields from a result."""
    return {key: value for key, value in told.items() if value not in (None, [], "")}
