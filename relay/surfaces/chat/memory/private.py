"""Shows whether a conversation is off the record."""

from __future__ import annotations

from relay.commands.memory.controls import talk_privately
from relay.core.errors import CommandRefused
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reply import CommandReply

BEGUN = (
    "🕶 **Off the record.** A new conversation has begun here. Nothing of it is learned, summarised, searched, exported "
    "or backed up, and all of it is erased when it ends: with /private off, with /new, or after 12 silent hours. What "
    "I know of you I still use. Your messages stay in Telegram, and what you write goes to the model that answers."
)
IS_OFF = "🕶 This conversation is off the record."
IS_ON = "This conversation is on the record."
WORDS = {"": True, "on": True, "off": False, "status": None}


@shows("private")
async def private(call: ChatContext) -> CommandReply:
    """Begins a conversation off the record in this thread, or ends it and erases it."""
    word = call.text.strip().lower()
    if word not in WORDS:
        raise CommandRefused("Write /private to talk off the record, and /private off to end it.")
    on = WORDS[word]
    done = await talk_privately(call, on)
    if on is None:
        said = IS_OFF if done.private else IS_ON
    elif on:
        said = "🕶 This conversation is off the record already. /private off ends it." if done.was else BEGUN
    elif done.was:
        said = "The conversation off the record has ended and is erased. From now on, this is on the record."
    else:
        said = f"{IS_ON} /private begins one that is not."
    return CommandReply(said, result=done)
