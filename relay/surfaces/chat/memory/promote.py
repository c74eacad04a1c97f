"""A message that somebody wants kept becomes a memory: in their words at once, in a model's after a tap."""

from __future__ import annotations

from collections.abc import Sequence

from relay.core.models import Space
from relay.core.text import parse_number
from relay.memory.api import LEARNING_LENGTH
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.memories import KeepableMessage
from relay.memory.writing.proposals import proposed
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.memory.cards import quote
from relay.surfaces.chat.memory.decisions import refused
from relay.surfaces.chat.memory_pages import within
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, button

OFF_THE_RECORD = "That is off the record: nothing of it is kept."
NO_WORDS = "There is nothing in words in that message. Write after the command what I shall keep of it."
KNOWN = "I know that already."


async def replied(call: ChatContext) -> KeepableMessage | None:
    """The message that a command replies to, as it is known here, else as Telegram shows it; None without one."""
    target = call.message.get("reply_to_message") or {}
    if not target.get("message_id") or "forum_topic_created" in target:
        return None
    found = await call.store.keepable(call.space, call.bot_id, call.chat_id, int(target["message_id"]))
    shown = str(target.get("text") or target.get("caption") or "")
    return found or KeepableMessage(shown, untrusted=True, private=False)


async def promoted(call: ChatContext, space: Space, message: KeepableMessage, words: str = "") -> CommandReply:
    """Keeps a message as a learning in these words; without any, proposes some, which wait for a tap."""
    if message.private:
        return CommandReply(OFF_THE_RECORD)
    if len(words) > LEARNING_LENGTH:
        return CommandReply(f"That is {len(words)} characters; a learning has at most {LEARNING_LENGTH}.")
    content = words or await proposed(call.services.summariser, space, call.user_id, message.text)
    if not content:
        return CommandReply(NO_WORDS)
    action = {
        "action": "learn",
        "kind": "learning",
        "category": "knowledge",
        "content": content,
        "by": "promoted",
        "promoted_by": call.user_id,
        "tainted": message.untrusted,
        "ask": not words,
        **({"source": message.id} if message.id else {}),
    }
    done = await call.store.change_memory(call.turn, space, [action])
    if words or done.failed:
        return CommandReply("", done.changes, done.failed)
    return draft(done.changes)


def draft(changes: Sequence[MemoryChange]) -> CommandReply:
    """A proposal, to be kept, reworded or skipped."""
    waiting = next((one for one in changes if one.status == "pending"), None)
    if waiting is None:
        return CommandReply(KNOWN)
    row = [
        button("✅ Keep", f"d:{waiting.id}:k"),
        button("✎ Edit", f"e:{waiting.memory_id}"),
        button("✖ Skip", f"d:{waiting.id}:x"),
    ]
    return CommandReply(f"◆ I would keep this:\n\n{quote(within(waiting.content, 2500))}", rows=[row])


async def marked(call: ChatContext, telegram_message_id: int) -> CommandReply:
    """Proposes to keep a message that somebody marked with ✍; silent where it is not known."""
    found = await call.store.keepable(call.space, call.bot_id, call.chat_id, telegram_message_id)
    return await promoted(call, call.space, found) if found and found.text.strip() else CommandReply("")


@pressed("k")
async def press_keep(call: ChatContext, turn_id: str) -> ButtonReply:
    """Proposes to keep an answer: the ◆ under it."""
    turn = parse_number(turn_id) or 0
    where = await call.store.changed_in(turn_id=turn)
    refusal = await refused(call, where)
    if where is None or refusal is not None:
        return refusal or NOT_YOURS
    space = where.space
    found = await call.store.keepable(space, turn_id=turn)
    return ButtonReply(says=await promoted(call, space, found)) if found else ButtonReply("There is nothing to keep.")
