"""Shows what could be better about a text."""

from __future__ import annotations

from relay.commands.preferences.critique import critique as critique_command
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.preferences.tags import JustRight
from relay.surfaces.chat.reply import CommandReply, button
from relay.surfaces.chat.turn_buttons import AnswerWithCritique


@shows("critique", private=True)
async def critique(call: ChatContext) -> CommandReply:
    """Judges the text after the command, else the message that this replies to, else the last answer here."""
    replied = call.said.replied.message_id if call.said.replied else 0
    done = await critique_command(call, replied, call.text.strip())
    rows = []
    if done.turn_id and call.private:
        rows = [[button("↻ Answer again with this", AnswerWithCritique(done.turn_id))]]
        rows.append([button("🎯 It was right", JustRight(done.turn_id))])
    return CommandReply(done.text, rows=rows, result=done)
