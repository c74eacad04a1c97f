"""Off the record: a conversation that leaves nothing."""

from __future__ import annotations

from relay.commands.registry import ADMINS_ONLY
from relay.commands.session.session import NOT_ENDED
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import verb
from relay.surfaces.chat.memory.controls import may_switch
from relay.surfaces.chat.reply import CommandReply

BEGUN = (
    "🕶 **Off the record.** A new conversation has begun here. Nothing of it is learned, summarised, searched, exported "
    "or backed up, and all of it is erased when it ends: with /private off, with /new, or after 12 silent hours. What "
    "I know of you I still use. Your messages stay in Telegram, and what you write goes to the model that answers."
)


@verb("private", usage="[off]", help="talk off the record; it's erased when you end it")
async def private(call: ChatContext) -> CommandReply:
    """Begins a session off the record in this thread, or ends it and erases it."""
    word = call.text.strip().lower()
    if word not in ("", "on", "off", "status"):
        return CommandReply("Write /private to talk off the record, and /private off to end it.", refused=True)
    on = None if word == "status" else word != "off"
    may = may_switch(call, call.space)
    done = await call.store.private(call.space, call.chat_id, call.topic_id, on, call.user_id, may)
    if done.refused:
        return CommandReply(ADMINS_ONLY if on else NOT_ENDED)
    if on is None:
        is_on = "🕶 This conversation is off the record." if done.private else "This conversation is on the record."
        return CommandReply(is_on)
    if on:
        return CommandReply(
            "🕶 This conversation is off the record already. /private off ends it." if done.was else BEGUN
        )
    if not done.was:
        return CommandReply("This conversation is on the record. /private begins one that is not.")
    return CommandReply("The conversation off the record is over, and erased. What you write now is on the record.")
