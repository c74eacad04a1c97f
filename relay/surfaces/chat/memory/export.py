"""Sends /export."""

from __future__ import annotations

from relay.archive.export_file import LINES
from relay.archive.packed import TEXT
from relay.commands.memory.export import export as export_command
from relay.core.program import RELAY
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.memory.places import place_of, title_of
from relay.surfaces.chat.reply import CommandReply


@shows("export", private=True)
async def export(call: ChatContext) -> CommandReply:
    """Sends this space's memories and messages, to read and to import; from a group, to the person's own chat."""
    shared = call.space.kind == "group"
    file = await export_command(call, await title_of(call, call.space.chat_id or 0) if shared else "")
    own = "Preferences and feedback of other members aren't in it. " if shared else ""
    how = f" (`{RELAY} import`)" if call.operator else ""
    text = (
        f"Here's everything I know and everything that was said{await place_of(call, call.space)}. {own}{TEXT} is for "
        f"you to read, {LINES} is for another Relay{how}. Keep it safe: it's private."
    )
    return CommandReply(text, file=file)
