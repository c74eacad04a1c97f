"""Everything that is known and was said, as a file."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.archive.imports import LINES
from relay.archive.packed import TEXT
from relay.core.models import Export
from relay.core.program import RELAY
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import verb
from relay.surfaces.chat.permissions import place_of, title_of
from relay.surfaces.chat.reply import CommandReply


@verb("export", help="download what I know and what was said as a file", doors=("chat",))
async def export(call: ChatContext) -> CommandReply:
    """Sends what this space holds, to read and to import again; asked in a group, in the person's own chat."""
    if await call.store.export_space(call.space) is None:
        return CommandReply("There is nothing to export yet.", private=True)
    whose = call.name if call.space.kind == "private" else await title_of(call, call.space.chat_id or 0) or "the group"
    text = (
        f"Everything that I know and that was said{await place_of(call, call.space)}: {TEXT} is for you to read, "
        f"{LINES} for another Relay (`{RELAY} import`). Keep it safe: it is for your eyes only."
    )
    name = f"relay-export-{datetime.now(UTC):%Y%m%d}.zip"
    file = Export(name, call.space, f"What Relay remembers of {whose}", str(call.zone))
    return CommandReply(text, private=True, file=file)
