"""Earlier text in the present message: recalled passages, and what it replies to. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from relay.conversation.memory_layer import as_note
from relay.conversation.taint import reply_untrusted
from relay.core.models import Incoming, ReplyTo
from relay.core.prompt_markup import (
    call_person,
    clean_name,
    cut_to_tokens,
    estimate_tokens,
    mark_untrusted,
    neutralize_markup,
)
from relay.memory.contexts.markers import remove_markers
from relay.memory.derivations.artefacts import id_of
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.context import Context, RepliedMessage

REPLY_CHARACTERS = 2_000


def passage(row: FoundEntry, zone: tzinfo, speaker: int | None = None, people: Mapping[int, str] | None = None) -> str:
    """Formats a recalled passage: its id (unless lent), time, author, and the text around the match. `speaker`: in a
    group, the one person whose words need no markup. `people`: see `Incoming`."""
    when = row.at.astimezone(zone)
    who = author(row, people or {})
    who += ", in private" if row.lent else ""
    if row.document:
        who += f', in "{clean_name(row.document)}" (part {row.part} of {row.parts})'
    if row.is_foreign(speaker):
        text = mark_untrusted(row.snippet, "recalled")
    else:
        text = as_note(row.snippet) if row.kind == "memory" else neutralize_markup(row.snippet)
    name = "" if row.lent else id_of(row.kind, row.id, row.part) + ", "
    return f"[{name}{when:%Y-%m-%d %H:%M}] {who}: {text}"


def author(row: FoundEntry, people: Mapping[int, str]) -> str:
    """Returns the author of a recalled passage, or a memory's subject."""
    if row.kind == "summary":
        return "summary of an earlier conversation"
    if row.kind not in ("message", "part", "memory"):
        return row.kind
    if row.kind == "memory":
        return f"memory about {call_person(row.user_id, row.subject, people)}" if row.subject else "memory"
    return "you" if row.role == "assistant" else call_person(row.user_id, row.name or "the user", people)


def reply_note(reply: ReplyTo, stored: RepliedMessage | None, incoming: Incoming, zone: tzinfo) -> str:
    """Describes what the present message replies to. It is quoted as data unless the user or Relay wrote it."""
    text = replied_text(reply, stored)
    ours = stored.role == "assistant" if stored else reply.by == "you"
    author = (
        "you"
        if ours
        else f'"{call_person(stored.user_id if stored else None, reply.by or "the user", incoming.people)}"'
    )
    when = ""
    if stored:
        when = f" of {stored.at.astimezone(zone):%Y-%m-%d %H:%M}"
    head = f"The user is replying to {'this part of ' if reply.quote else ''}a message by {author}{when}:"
    body = (
        mark_untrusted(text, "quote", "" if ours else reply.by)
        if reply_untrusted(reply, stored, incoming.user_id)
        else neutralize_markup(text)
    )
    return f"{head}\n<reply>\n{body}\n</reply>"


def replied_text(reply: ReplyTo, stored: RepliedMessage | None) -> str:
    """Returns as much of the message replied to, or of its quoted part, as a prompt shows."""
    text = remove_markers(reply.quote or (stored.text if stored else reply.text))
    return cut_to_tokens(text, REPLY_CHARACTERS // 4)


def unshown(
    recalled: Sequence[FoundEntry], memories: Sequence[int], context: Context, text: str
) -> Sequence[FoundEntry]:
    """Returns the recalled entries without those that the prompt shows anyway: memories, summaries, the present message
    and its documents, and what is part of `text`."""
    summaries = (row.id for row in (context.summary, context.latest_summary) if row)
    shown = {*(("memory", id) for id in memories), *(("summary", id) for id in summaries)}
    text = " ".join(text.split())
    return [
        row
        for row in recalled
        if (row.kind, row.id) not in shown
        and (row.message_id is None or row.message_id != context.message_id)
        and row.snippet.strip() not in text
    ]


def recall_within(recalled: Sequence[FoundEntry], tokens: int) -> Sequence[FoundEntry]:
    """Returns the best recalled passages that fit, each whole."""
    kept, used = [], 0
    for row in recalled:
        used += estimate_tokens(row.snippet) + 12
        if used <= tokens:
            kept.append(row)
    return kept
