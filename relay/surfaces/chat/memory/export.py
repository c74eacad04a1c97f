"""Shows the export of everything that is known and was said."""

from __future__ import annotations

from relay.archive.imports import LINES
from relay.archive.packed import TEXT
from relay.commands.memory.export import export as export_command
from relay.core.program import RELAY
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.memory.places import place_of, title_of
from relay.surfaces.chat.reply import CommandReply


@shows("export", private=True)
async def export(call: ChatContext) -> CommandReply:
    """Sends what this space holds, to read and to import again; asked in a group, in the person's own chat."""
    group = await title_of(call, call.space.chat_id or 0) if call.space.kind == "group" else ""
    file = await export_command(call, group)
    text = (
        f"Everything that I know and that was said{await place_of(call, call.space)}: {TEXT} is for you to read, "
        f"{LINES} for another Relay (`{RELAY} import`). Keep it safe: it is for your eyes only."
    )
    return CommandReply(text, file=file)
