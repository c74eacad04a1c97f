"""Replaces the attachments of an input with their contents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from relay.core import metrics
from relay.core.models import Attachment, Block, Incoming
from relay.media.reading import SPOKEN, FileContents, Reader

MARKS = ("untrusted", "from", "replied")
"""Fields that the blocks of a file inherit from its attachment: who wrote it, and whether it is from another
message."""
AT_ONCE = 3
"""How many files of one input are read at once, so that an album doesn't block everyone else."""
MOST_KEPT = 1_500_000
"""How many characters of documents are stored from one input: one long document, in a statement of less than 2 s."""


async def read_attachments(
    incoming: Incoming, reader: Reader, on_read: Callable[[Attachment, FileContents], Awaitable[None]]
) -> Incoming:
    """Returns an input with its files read. Reads them concurrently and calls `on_read` for each file sent with it as
    soon as it is read. Replaces blocks of type `attachment`, which only an unread input has."""
    carried = [row for row in incoming.blocks if row["type"] == "attachment"]
    attachments = {row["file"]["unique_id"]: Attachment.from_json(row["file"]) for row in carried}
    sent = {row["file"]["unique_id"] for row in carried if not row.get("replied")}
    if not attachments:
        return incoming

    places = asyncio.Semaphore(AT_ONCE)

    async def read_one(attachment: Attachment) -> FileContents:
        async with places:
            result = await reader.read(attachment)
        if attachment.unique_id in sent:
            await on_read(attachment, result)
        return result

    ended = metrics.start_stage("media")
    tasks = [asyncio.ensure_future(read_one(one)) for one in attachments.values()]
    try:
        results = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    ended()
    read = dict(zip(attachments, results, strict=True))
    blocks = insert_files(incoming.blocks, read)
    found = [{**row, "replied": row["unique_id"] not in sent} for one in results for row in one.documents]
    documents, shortened = fit_documents(found, MOST_KEPT)
    return replace(
        incoming,
        text=text_with_files(incoming.blocks, read) or incoming.text,
        blocks=blocks,
        parts=[
            replace(part, text=text_with_files(part.blocks, read), blocks=insert_files(part.blocks, read))
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


def fit_documents(documents: Sequence[dict[str, Any]], most: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the documents with as many parts as fit, in order, and a sentence about each shortened one."""
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
                "send it alone to keep all of it."
            )
        if parts:
            kept.append({**document, "parts": parts})
    return kept, told


def insert_files(blocks: Sequence[Block], read: dict[str, FileContents]) -> list[Block]:
    """Returns blocks with attachments replaced by what was read. A file from someone else stays marked as such."""
    filled: list[Block] = []
    for block in blocks:
        if block["type"] != "attachment":
            filled.append(block)
            continue
        mark: Block = {key: block[key] for key in MARKS if key in block}
        filled.extend(one | mark for one in read[block["file"]["unique_id"]].blocks)
    return filled


def text_with_files(blocks: Sequence[Block], read: dict[str, FileContents]) -> str:
    """Returns a message's text including its files, except files that it only replies to."""
    own = (block for block in blocks if not block.get("replied"))
    said = (read[b["file"]["unique_id"]].text if b["type"] == "attachment" else b["text"] for b in own)
    return "\n".join(text for text in said if text.strip()).strip()


def is_spoken(blocks: Sequence[Block]) -> bool:
    """Tests whether the sender spoke the message: it is not a forward, and not a message they reply to."""
    own = (block["file"]["kind"] for block in blocks if "file" in block and not block.keys() & set(MARKS))
    return any(kind in SPOKEN for kind in own)


def is_usable(incoming: Incoming) -> bool:
    """Tests whether an input contains anything besides unusable files."""
    return any(not block.get("unread") for block in incoming.blocks)
