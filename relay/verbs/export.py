"""Everything that is known and was said, as a file."""

from __future__ import annotations

import asyncio
import io
import zipfile
from datetime import UTC, datetime

from relay.archive.export import line, pages
from relay.archive.imports import LINES
from relay.archive.readable import Readable
from relay.models import File
from relay.verbs.registry import Call, Told, counted, verb
from relay.verbs.sight import place_of, title_of

TEXT = "relay-export.md"
MOST_BYTES = 9_500_000
"""Of the archive: what a file in the chat may have, and a little less."""
MOST_TEXT = 48_000_000
"""Bytes of all that is in it: they are held in memory until it is sent."""
TOO_MUCH = (
    "That is more than I can send here. `relay export` in the shell writes it, however much it is: whoever runs me can "
    "do that."
)


class _TooMuch(Exception):
    """More than the chat takes."""


@verb("export", help="all of this as a file: what I know, what was said", doors=("chat",))
async def export(call: Call) -> Told:
    """Sends what this space holds, to read and to import again; asked in a group, in the person's own chat."""
    try:
        content, rows = await _packed(call)
    except _TooMuch:
        return Told(TOO_MUCH, private=True)
    if not rows:
        return Told("There is nothing to export yet.", private=True)
    text = (
        f"Everything that I know and that was said{await place_of(call, call.space)} ({counted(rows, 'row')}): {TEXT} "
        f"is for you to read, {LINES} for another Relay (`relay import`). Keep it safe: it is for your eyes only."
    )
    return Told(text, private=True, file=File(f"relay-export-{datetime.now(UTC):%Y%m%d}.zip", content))


async def _packed(call: Call) -> tuple[bytes, int]:
    """The archive, and how many rows are in it. Raises `_TooMuch`."""
    whose = call.name if call.space.kind == "private" else await title_of(call, call.space.chat_id or 0) or "the group"
    readable = Readable(f"What Relay remembers of {whose}", call.zone)
    archive, text, rows, size = io.BytesIO(), io.BytesIO(), 0, 0
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        with packed.open(LINES, "w") as lines:
            async for page in pages(call.store, call.space, call.house.version):
                encoded = b"".join(map(line, page))
                rows, size = rows + len(page), size + len(encoded)
                if size > MOST_TEXT:
                    raise _TooMuch
                await asyncio.to_thread(lines.write, encoded)
                text.write(readable.add(page).encode())
        text.write(readable.end().encode())
        await asyncio.to_thread(packed.writestr, TEXT, text.getvalue())
    if len(archive.getvalue()) > MOST_BYTES:
        raise _TooMuch
    return archive.getvalue(), max(0, rows - 2)
