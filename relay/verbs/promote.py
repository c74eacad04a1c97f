"""A message that somebody wants kept becomes a memory: in their words at once, in a model's after a tap."""

from __future__ import annotations

from relay.memory.direct import LEARNING_LENGTH
from relay.models import Space
from relay.proposals import proposed
from relay.verbs.cards import quote
from relay.verbs.decisions import refused
from relay.verbs.pages import within
from relay.verbs.registry import NOT_YOURS, Call, Json, Pressed, Told, button, number_in, pressed

OFF_THE_RECORD = "That is off the record: nothing of it is kept."
NO_WORDS = "There is nothing in words in that message. Write after the command what I shall keep of it."
KNOWN = "I know that already."


async def replied(call: Call) -> Json | None:
    """The message that a command replies to, as it is known here, else as Telegram shows it; None without one."""
    target = call.message.get("reply_to_message") or {}
    if not target.get("message_id") or "forum_topic_created" in target:
        return None
    found = await call.store.keepable(call.space, call.bot_id, call.chat_id, int(target["message_id"]))
    shown = str(target.get("text") or target.get("caption") or "")
    return found or {"id": None, "text": shown, "untrusted": True, "private": False}


async def promoted(call: Call, space: Space, message: Json, words: str = "") -> Told:
    """Keeps a message as a learning in these words; without any, proposes some, which wait for a tap."""
    if message["private"]:
        return Told(OFF_THE_RECORD)
    if len(words) > LEARNING_LENGTH:
        return Told(f"That is {len(words)} characters; a learning has at most {LEARNING_LENGTH}.")
    content = words or await proposed(call.house.summariser, space, call.user_id, message["text"])
    if not content:
        return Told(NO_WORDS)
    action = {
        "action": "learn",
        "kind": "learning",
        "category": "knowledge",
        "content": content,
        "by": "promoted",
        "promoted_by": call.user_id,
        "tainted": message["untrusted"],
        "ask": not words,
        **({"source": message["id"]} if message["id"] else {}),
    }
    done = await call.store.change_memory(call.turn, space, [action])
    if words or done["failed"]:
        return Told("", done["changes"], done["failed"])
    return draft(done["changes"])


def draft(changes: list[Json]) -> Told:
    """A proposal, to be kept, reworded or skipped."""
    waiting = next((one for one in changes if one["status"] == "pending"), None)
    if waiting is None:
        return Told(KNOWN)
    row = [
        button("✅ Keep", f"d:{waiting['id']}:k"),
        button("✎ Edit", f"e:{waiting['memory_id']}"),
        button("✖ Skip", f"d:{waiting['id']}:x"),
    ]
    return Told(f"◆ I would keep this:\n\n{quote(within(waiting['content'], 2500))}", rows=[row])


async def marked(call: Call, telegram_message_id: int) -> Told:
    """Proposes to keep a message that somebody marked with ✍; silent where it is not known."""
    found = await call.store.keepable(call.space, call.bot_id, call.chat_id, telegram_message_id)
    return await promoted(call, call.space, found) if found and found["text"].strip() else Told("")


@pressed("k")
async def press_keep(call: Call, turn_id: str) -> Pressed:
    """Proposes to keep an answer: the ◆ under it."""
    turn = number_in(turn_id) or 0
    where = await call.store.changed_in(turn_id=turn)
    refusal = await refused(call, where)
    if where is None or refusal is not None:
        return refusal or NOT_YOURS
    space = Space(**where["space"])
    found = await call.store.keepable(space, turn_id=turn)
    return Pressed(says=await promoted(call, space, found)) if found else Pressed("There is nothing to keep.")
