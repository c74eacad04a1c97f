"""Finds untrusted text in a prompt. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relay.core.models import Incoming, ReplyTo
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.context import Context, RepliedMessage, StoredMessage


def taints(
    incoming: Incoming, context: Context, recent: Sequence[StoredMessage], found: Sequence[FoundEntry]
) -> list[str]:
    """Returns where a prompt has untrusted text: `message`, `reply`, `memory`, `summary`, `people`, `recent`,
    `recalled`. A group's memory and summary come from all its people."""
    group, speaker = incoming.space.kind == "group", incoming.user_id
    replied = bool(incoming.reply_to) and reply_untrusted(incoming.reply_to, context.reply_to, speaker)
    where = {
        "message": incoming.untrusted or bool(context.message and context.message.untrusted),
        "reply": replied,
        "memory": group and any(row.subject_id != speaker for row in context.memories),
        "summary": bool(context.summary and (group or context.summary.tainted)),
        "people": group and any(row.user_id != speaker for row in recent),
        "recent": any(row.untrusted or row.tainted for row in recent),
        "recalled": any(row.untrusted or (group and row.user_id != speaker) for row in found),
    }
    return [name for name, present in where.items() if present]


def reply_untrusted(reply: ReplyTo | None, stored: RepliedMessage | None, user_id: int) -> bool:
    """Tests whether the message replied to is by others, or by us from others' words: what we said outside of the
    conversation, such as a list of results, may quote anyone."""
    if stored:
        return stored.untrusted or (stored.role == "user" and stored.user_id != user_id)
    return bool(reply and (not reply.own or reply.by == "you"))
