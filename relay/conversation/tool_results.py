"""What was found in memory as the model reads it when it opens it. Pure."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from relay.core.models import Incoming
from relay.core.prompt_markup import neutralize_markup, plain_name, untrusted
from relay.memory.ids import id_of

Json = dict[str, Any]
FIELDS = ("type", "importance", "confidence", "pinned", "status", "by", "promoted")
"""What is told of a memory as it is stored."""


def foreign(row: Json, incoming: Incoming) -> bool:
    """Whether others wrote something, or it is derived from such: in a group everything that is not the speaker's."""
    return bool(row["untrusted"]) or (incoming.space.kind == "group" and row.get("user_id") != incoming.user_id)


def opened(found: Json, incoming: Incoming, zone: tzinfo) -> tuple[Json, bool]:
    """What `relay_look_at` found, and whether any of it is what others wrote."""
    if found["kind"] == "message":
        return around(found, incoming, zone)
    if found["kind"] == "memory":
        return memory(found, incoming, zone)
    strange = foreign(found, incoming)
    told: Json = {"id": id_of(found["kind"], found["id"], found.get("part") or 0), "place": place_of(found)}
    if found["kind"] == "summary":
        told |= {
            "written": moment_of(found["at"], zone),
            "messages": found["messages"],
            "from": {"id": id_of("message", found["from_id"]), "at": moment_of(found["from_at"], zone)},
            "through": {"id": id_of("message", found["through_id"]), "at": moment_of(found["through_at"], zone)},
        }
    else:
        told |= {
            "document": plain_name(found["document"]),
            "part": f"{found['part']} of {found['parts']}",
            "sent_by": plain_name(found["name"] or "the user"),
            "at": moment_of(found["at"], zone),
            "message": id_of("message", found["message_id"]),
        }
    return present(told | {"text": text_of(found["content"], strange)}), strange


def around(found: Json, incoming: Incoming, zone: tzinfo) -> tuple[Json, bool]:
    """A message among those around it."""
    rows = found["messages"]
    told = {
        "id": id_of("message", found["id"]),
        "place": place_of(found),
        "messages": [said(row, incoming, zone) for row in rows],
    }
    return present(told), any(foreign(row, incoming) for row in rows)


def memory(found: Json, incoming: Incoming, zone: tzinfo) -> tuple[Json, bool]:
    """A memory with where it came from and what it said before."""
    mine = {**found, "user_id": found["subject_id"]}
    strange = foreign(mine, incoming)
    told = {
        "id": id_of("memory", found["id"]),
        "text": text_of(found["content"], strange),
        "about": plain_name(found["subject"]) if found["subject"] else None,
        **{name: found[name] for name in FIELDS},
        "category": plain_name(found["category"]) if found["category"] else None,
        "tags": [plain_name(tag) for tag in found["tags"]],
        "since": moment_of(found["at"], zone),
        "changed": moment_of(found["updated_at"], zone) if found["updated_at"] != found["at"] else None,
        "valid_from": moment_of(found["valid_from"], zone),
        "valid_until": moment_of(found["valid_until"], zone),
        "place": place_of(found),
        "learned_from": [said(row, incoming, zone) for row in found["sources"]],
        "before": [
            {"until": moment_of(was["until"], zone), "text": text_of(was["said"], strange)} for was in found["before"]
        ],
    }
    return present(told), strange or any(foreign(row, incoming) for row in found["sources"])


def said(row: Json, incoming: Incoming, zone: tzinfo) -> Json:
    """One message."""
    strange = foreign(row, incoming)
    return present(
        {
            "id": id_of("message", row["id"]),
            "at": moment_of(row["at"], zone),
            "who": "you" if row["role"] == "assistant" else plain_name(row["name"] or "the user"),
            "untrusted": strange or None,
            "text": text_of(row["text"] + (" […]" if row["cut"] else ""), strange),
        }
    )


def place_of(found: Json) -> str:
    """Where something was said: a name that somebody gave to a group or topic."""
    return plain_name(found["place"]) if found["place"] else ""


def text_of(text: str, strange: bool) -> str:
    """A text as data, where others wrote it."""
    return untrusted(text, "recalled") if strange else neutralize_markup(text)


def moment_of(at: str | None, zone: tzinfo) -> str | None:
    """An ISO 8601 time in a zone, to the minute."""
    return f"{datetime.fromisoformat(at).astimezone(zone):%Y-%m-%d %H:%M}" if at else None


def present(told: Json) -> Json:
    """What is told without what there is nothing to tell about."""
    return {key: value for key, value in told.items() if value not in (None, [], "")}
