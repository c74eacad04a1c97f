"""Renders /private."""

from __future__ import annotations

from relay.commands.memory.controls import talk_privately
from relay.core.errors import OutOfRange
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reply import CommandReply

BEGUN = (
    "🕶 **Off the record.** This is a new conversation. I won't learn from it, summarise it, search it, export it or "
    "back it up, and I'll erase it when it ends: with /private off, with /new, or after 12 silent hours. I still use "
    "what I know about you. "
)
IN_TELEGRAM = "Your messages stay in Telegram, and the model that answers still sees them."
AT_A_TERMINAL = "The model that answers still sees your messages."
IS_OFF = "🕶 This conversation is off the record."
IS_ON = "This conversation is on the record."
WORDS = {"": True, "on": True, "off": False, "status": None}


@shows("private")
async def private(call: ChatContext) -> CommandReply:
    """Starts a conversation off the record in this thread, or ends and erases it."""
    word = call.text.strip().lower()
    if word not in WORDS:
        raise OutOfRange("Write /private to talk off the record, and /private off to end it.")
    on = WORDS[word]
    begun = BEGUN + (IN_TELEGRAM if call.bot_id else AT_A_TERMINAL)
    done = await talk_privately(call, on)
    if on is None:
        text = IS_OFF if done.private else IS_ON
    elif on:
        text = "🕶 This conversation is already off the record. /private off ends it." if done.was else begun
    elif done.was:
        text = "I've erased the conversation off the record. From now on, we're on the record."
    else:
        text = f"{IS_ON} /private starts one off the record."
    return CommandReply(text, result=done)
