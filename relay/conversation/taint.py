"""Finds untrusted text in a prompt, and the parts of it that the model did not write. Pure."""

from collections.abc import Iterator, Sequence

from relay.conversation.history import Prompt
from relay.conversation.memory_layer import as_written
from relay.core.models import Incoming, Reply, ReplyTo
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.context import Context, RepliedMessage, StoredMessage


def taints(
    incoming: Incoming, context: Context, recent: Sequence[StoredMessage], found: Sequence[FoundEntry]
) -> list[str]:
    """Returns where a prompt has untrusted text: `message`, `reply`, `memory`, `summary`, `composed`, `people`,
    `recent`, `recalled`. A group's memory, summary and compositions come from all its people."""
    group, speaker = incoming.space.kind == "group", incoming.user_id
    replied = bool(incoming.reply_to) and reply_untrusted(incoming.reply_to, context.reply_to, speaker)
    where = {
        "message": incoming.untrusted or bool(context.message and context.message.untrusted),
        "reply": replied,
        "memory": group and any(row.subject_id != speaker for row in context.memories),
        "summary": bool(context.summary and (group or context.summary.tainted)),
        "composed": bool(context.composed and (group or context.composed.tainted)),
        "people": group and any(row.user_id != speaker for row in recent),
        "recent": any(row.untrusted or row.tainted for row in recent),
        "recalled": any(row.is_foreign(speaker if group else None) for row in found),
    }
    return [name for name, present in where.items() if present]


def reply_untrusted(reply: ReplyTo | None, stored: RepliedMessage | None, user_id: int) -> bool:
    """Tests whether the message replied to was written by others, or by Relay from others' words: what Relay said
    outside of the conversation, such as a list of results, may quote anyone."""
    if stored:
        return stored.untrusted or (stored.role == "user" and stored.user_id != user_id)
    return bool(reply and (not reply.own or reply.by == "you"))


def foreign_texts(prompt: Prompt, reply: Reply) -> Iterator[str]:
    """Yields what the model read in this turn and didn't write: memory, the present message with its quote and
    recalled passages, untrusted text, and tool results. Tags in these aren't the assistant's."""
    yield from (as_written(block["text"]) for block in prompt.system[1:])
    for message in [*prompt.messages, *reply.steps]:
        for block in message["content"]:
            text = str(block.get("text") or "") if message["role"] == "user" else ""
            if block["type"].endswith("tool_result"):
                yield str(block.get("content")).replace('\\"', '"').replace("\\n", "\n")
            elif message is prompt.messages[-1] or text.startswith(("<untrusted ", "<said ", "<composed ")):
                yield text
                yield as_written(text)
