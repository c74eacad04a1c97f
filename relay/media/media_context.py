"""The pictures and documents of a conversation, brought back for the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Block
from relay.media.cache import Cache
from relay.media.files import Files
from relay.media.media_cost import DOCUMENT_BYTES, bytes_of, first_kept, is_image, pages_of, tokens_of
from relay.media.pictures import Pictures
from relay.media.prepared import PDF, Prepared, in_base64
from relay.media.room import Room

log = structlog.get_logger()

IMAGES, IMAGE_TOKENS, IMAGE_BYTES = 20, 30_000, 6 * 2**20
PAGES = 16
"""Together they stay below what one request may have: 32 MB, where each byte takes one and a third."""
WHOLE = 100_000
"""All that may be shown, of whatever is scarcest."""
SECONDS = 20.0
"""How long an answer waits for what is fetched again."""
HELD = 72 * 2**20
"""Characters of base64 that all answers together show at a time."""
ROOM_SECONDS = 60.0
"""How long an answer waits for its part of that."""


class MediaContext:
    """Shows the files that were sent lately, as blocks of Anthropic's."""

    def __init__(self, pictures: Pictures, files: Files, cache: Cache[Prepared], held: int = HELD) -> None:
        """`held`: characters of base64 that are shown at a time."""
        self._pictures = pictures
        self._files = files
        self._cache = cache
        self._room = Room(held)

    @asynccontextmanager
    async def shown(
        self, present: Sequence[Block], recent: Sequence[Sequence[Block]]
    ) -> AsyncIterator[dict[str, Block]]:
        """The files that are shown as they are, by their unique ids, while the model is asked: of the present message,
        then of recent ones, the newest first, within a budget. One that cannot be had any more is not among them, and
        none is when too many others are asking for too long."""
        wanted = chosen(present, recent)
        most = sum(map(sent_bytes, wanted.values())) * 5 // 4
        async with AsyncExitStack() as stack:
            if wanted:
                try:
                    async with asyncio.timeout(ROOM_SECONDS):
                        await stack.enter_async_context(self._room.taken(most))
                except TimeoutError:
                    log.warning("nothing is shown: too many files are shown to the model already", files=len(wanted))
                    wanted = {}
            yield fitting(await self._all_brought(wanted), most)

    async def _all_brought(self, wanted: Mapping[str, Block]) -> dict[str, Prepared]:
        """What of it can be had within `SECONDS`."""
        tasks = {unique_id: asyncio.create_task(self._brought(block)) for unique_id, block in wanted.items()}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=SECONDS)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        brought = {unique_id: None if task.cancelled() else task.result() for unique_id, task in tasks.items()}
        return {unique_id: made for unique_id, made in brought.items() if made is not None}

    async def _brought(self, block: Block) -> Prepared | None:
        """A file made ready; None when it is gone."""
        attachment = Attachment.from_json(block["file"])
        try:
            if block["type"] == "document":
                return await self._document(attachment)
            return await self._pictures.prepared(attachment)
        except MediaRefused as error:
            log.info("a file of the conversation is not shown", kind=attachment.kind, error=str(error))
            return None

    async def _document(self, attachment: Attachment) -> Prepared:
        made = self._cache.get(attachment.unique_id)
        if made is None:
            async with self._files.held(attachment) as content:
                made = Prepared(await in_base64(content), PDF)
            self._cache.put(attachment.unique_id, made)
        return made


def sent_bytes(block: Block) -> int:
    """How many characters of base64 a stored picture or document takes."""
    return -(-bytes_of(block) // 3) * 4


def fitting(brought: Mapping[str, Prepared], most: int) -> dict[str, Block]:
    """As many as fit of what was brought: one may be larger than its message says, or made a little larger today."""
    sent: dict[str, Block] = {}
    for unique_id, made in brought.items():
        most -= len(made.data)
        if most >= 0:
            sent[unique_id] = made.as_sent()
    return sent


def chosen(present: Sequence[Block], recent: Sequence[Sequence[Block]]) -> dict[str, Block]:
    """Which files are shown, by their unique ids: the newest within the budgets. When one is exceeded, a quarter of it
    is freed at once, so that the beginning of the prompt stays the same from turn to turn, and cached."""
    before = [block for blocks in recent for block in blocks]
    images = by_id(block for block in [*before, *present] if is_image(block))
    documents = by_id(block for block in [*before, *present] if block["type"] == "document")
    start = first_kept([share_of_images(block) for block in images.values()], WHOLE)
    return dict(list(images.items())[start:]) | chosen_documents(documents, present)


def chosen_documents(documents: dict[str, Block], present: Sequence[Block]) -> dict[str, Block]:
    """The documents of the present message, whatever pages they have, and the newest others with which they fit."""
    start = first_kept([share_of_documents(block) for block in documents.values()], WHOLE)
    here = first_documents(by_id(block for block in present if block["type"] == "document"), DOCUMENT_BYTES)
    both = dict(list(documents.items())[start:]) | here
    return both if sum(map(bytes_of, both.values())) <= DOCUMENT_BYTES else here


def share_of_images(block: Block) -> int:
    """How much of what pictures may take one takes: of their number, tokens or bytes, whichever is most."""
    return max(WHOLE // IMAGES, share(tokens_of(block), IMAGE_TOKENS), share(bytes_of(block), IMAGE_BYTES))


def share_of_documents(block: Block) -> int:
    """The same of a document: of their pages or bytes."""
    return max(share(pages_of(block), PAGES), share(bytes_of(block), DOCUMENT_BYTES))


def share(part: int, most: int) -> int:
    return -(-part * WHOLE // most)


def by_id(blocks: Iterable[Block]) -> dict[str, Block]:
    """Files in the order in which they were sent last."""
    found: dict[str, Block] = {}
    for block in blocks:
        unique_id = block["file"]["unique_id"]
        found.pop(unique_id, None)
        found[unique_id] = block
    return found


def first_documents(documents: dict[str, Block], most: int) -> dict[str, Block]:
    """The first documents whose bytes fit together, however many pages they have."""
    kept, used = {}, 0
    for unique_id, block in documents.items():
        used += bytes_of(block)
        if used <= most:
            kept[unique_id] = block
    return kept
