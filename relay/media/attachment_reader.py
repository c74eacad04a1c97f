"""An input with what is in its files in place of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from relay.core import metrics
from relay.core.models import Attachment, Block, Incoming
from relay.media.reading import SPOKEN, Read, Reader

MARKS = ("untrusted", "from", "replied")
"""What a block keeps of the attachment that it was: whose it is, and that it is another message's."""
AT_ONCE = 3
"""Files of one input that are read beside each other, so that no album keeps everybody else waiting."""
MOST_KEPT = 1_500_000
"""Characters of documents that are kept of one input: one long document, in a statement of less than 2 s."""


async def filled(
    incoming: Incoming, reader: Reader, on_read: Callable[[Attachment, Read], Awaitable[None]]
) -> Incoming:
    """Reads all files of an input beside each other, and tells `on_read` of each that was sent with it as soon as it is
    read. Blocks of type `attachment`, which only an unread input has, give way to what was read."""
    carried = [row for row in incoming.blocks if row["type"] == "attachment"]
    attachments = {row["file"]["unique_id"]: Attachment.from_json(row["file"]) for row in carried}
    sent = {row["file"]["unique_id"] for row in carried if not row.get("replied")}
    if not attachments:
        return incoming

    places = asyncio.Semaphore(AT_ONCE)

    async def read_one(attachment: Attachment) -> Read:
        async with places:
            result = await reader.read(attachment)
        if attachment.unique_id in sent:
            await on_read(attachment, result)
        return result

    ended = metrics.first("media")
    tasks = [asyncio.ensure_future(read_one(one)) for one in attachments.values()]
    try:
        results = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    ended()
    read = dict(zip(attachments, results, strict=True))
    blocks = with_files(incoming.blocks, read)
    documents, shortened = within([document for one in results for document in one.documents], MOST_KEPT)
    return replace(
        incoming,
        text=text_with(incoming.blocks, read) or incoming.text,
        blocks=blocks,
        parts=[
            replace(part, text=text_with(part.blocks, read), blocks=with_files(part.blocks, read))
            for part in incoming.parts
        ],
        untrusted=any(block.get("untrusted") for block in blocks),
        documents=documents,
        notices=(
            *incoming.notices,
            *dict.fromkeys(line for one in results if (line := one.notice_to(incoming.operator))),
            *shortened,
        ),
        spoken=is_spoken(carried),
    )


def within(documents: Sequence[dict[str, Any]], most: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The documents with as many of their parts as fit, in order, and a sentence about each that is shortened."""
    kept: list[dict[str, Any]] = []
    told: list[str] = []
    for document in documents:
        parts: list[str] = []
        for part in document["parts"]:
            most -= len(part)
            if most < 0:
                break
            parts.append(part)
        if len(parts) < len(document["parts"]):
            told.append(
                f"📄 {document['name']}: I keep {len(parts)} of its {len(document['parts'])} parts; "
                "send it alone to keep it whole."
            )
        if parts:
            kept.append({**document, "parts": parts})
    return kept, told


def with_files(blocks: Sequence[Block], read: dict[str, Read]) -> list[Block]:
    """Blocks with what was read in place of attachments. A file that came from somebody else keeps that mark."""
    filled: list[Block] = []
    for block in blocks:
        if block["type"] != "attachment":
            filled.append(block)
            continue
        mark: Block = {key: block[key] for key in MARKS if key in block}
        filled.extend(one | mark for one in read[block["file"]["unique_id"]].blocks)
    return filled


def text_with(blocks: Sequence[Block], read: dict[str, Read]) -> str:
    """What a message says with its files, in words. A file that it only replies to is another message's."""
    own = (block for block in blocks if not block.get("replied"))
    said = (read[b["file"]["unique_id"]].text if b["type"] == "attachment" else b["text"] for b in own)
    return "\n".join(text for text in said if text.strip()).strip()


def is_spoken(blocks: Sequence[Block]) -> bool:
    """Whether somebody said it with their own voice: not what they forward, and not what they reply to."""
    own = (block["file"]["kind"] for block in blocks if "file" in block and not block.keys() & set(MARKS))
    return any(kind in SPOKEN for kind in own)


def is_usable(incoming: Incoming) -> bool:
    """Whether an input says or shows anything beside files that cannot be used."""
    return any(not block.get("unread") for block in incoming.blocks)
