"""Shows a conversation's pictures and documents to the model again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Block
from relay.core.tasks import cancel
from relay.media.cache import Cache
from relay.media.files import Files
from relay.media.media_cost import DOCUMENT_BYTES, bytes_of, first_kept, is_image, pages_of, tokens_of
from relay.media.pictures import Pictures
from relay.media.prepared import PDF, PreparedFile, encode_base64
from relay.media.room import Room

log = structlog.get_logger()

IMAGES, IMAGE_TOKENS, IMAGE_BYTES = 20, 30_000, 6 * 2**20
PAGES = 16
"""The most pages. With the other limits, a request stays below 32 MB, where base64 takes four thirds."""
WHOLE = 100_000
"""The number that stands for a whole budget, by number, tokens or bytes."""
SECONDS = 20.0
"""How many seconds an answer waits for files."""
HELD = 72 * 2**20
"""How many characters of base64 all answers together may show at once."""
ROOM_SECONDS = 60.0
"""How many seconds an answer waits for its share of that."""


class MediaContext:
    """Shows recent files as Anthropic blocks."""

    def __init__(self, pictures: Pictures, files: Files, cache: Cache[PreparedFile], held: int = HELD) -> None:
        """`held`: how many characters of base64 may be shown at once."""
        self._pictures = pictures
        self._files = files
        self._cache = cache
        self._room = Room(held)

    @asynccontextmanager
    async def shown(
        self, present: Sequence[Block], recent: Sequence[Sequence[Block]]
    ) -> AsyncIterator[dict[str, Block]]:
        """Provides the files to show by unique id while the model runs: of the present message, then of recent ones,
        newest first, within a budget. Leaves out files that are gone, and all if there is no room for too long."""
        wanted = choose_files(present, recent)
        most = sum(map(sent_bytes, wanted.values())) * 5 // 4
        async with AsyncExitStack() as stack:
            if wanted:
                try:
                    async with asyncio.timeout(ROOM_SECONDS):
                        await stack.enter_async_context(self._room.reserve(most))
                except TimeoutError:
                    log.warning("nothing is shown: too many files are shown to the model already", files=len(wanted))
                    wanted = {}
            yield fit(await self._prepare_all(wanted), most)

    async def _prepare_all(self, wanted: Mapping[str, Block]) -> dict[str, PreparedFile]:
        """Returns what can be fetched within `SECONDS`."""
        tasks = {unique_id: asyncio.create_task(self._prepare(block)) for unique_id, block in wanted.items()}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=SECONDS)
        finally:
            await cancel(*tasks.values())
        brought = {unique_id: None if task.cancelled() else task.result() for unique_id, task in tasks.items()}
        return {unique_id: made for unique_id, made in brought.items() if made is not None}

    async def _prepare(self, block: Block) -> PreparedFile | None:
        """Prepares a file; None if it is gone."""
        attachment = Attachment.from_json(block["file"])
        try:
            if block["type"] == "document":
                return await self._document(attachment)
            return await self._pictures.prepare(attachment)
        except MediaRefused as error:
            log.info("a file of the conversation is not shown", kind=attachment.kind, error=str(error))
            return None

    async def _document(self, attachment: Attachment) -> PreparedFile:
        made = self._cache.get(attachment.unique_id)
        if made is None:
            async with self._files.open(attachment) as content:
                made = PreparedFile(await encode_base64(content), PDF)
            self._cache.put(attachment.unique_id, made)
        return made


def sent_bytes(block: Block) -> int:
    """Returns how many characters of base64 a stored picture or document takes."""
    return -(-bytes_of(block) // 3) * 4


def fit(brought: Mapping[str, PreparedFile], most: int) -> dict[str, Block]:
    """Returns as many files as fit; one may be larger than its message says, or grow slightly when it is prepared
    again."""
    sent: dict[str, Block] = {}
    for unique_id, made in brought.items():
        most -= len(made.data)
        if most >= 0:
            sent[unique_id] = made.to_block()
    return sent


def choose_files(present: Sequence[Block], recent: Sequence[Sequence[Block]]) -> dict[str, Block]:
    """Chooses the newest files within the budgets, by unique id. If a budget is exceeded, frees a quarter of it at
    once, so that the beginning of the prompt stays the same from turn to turn, and cached."""
    before = [block for blocks in recent for block in blocks]
    images = by_id(block for block in [*before, *present] if is_image(block))
    documents = by_id(block for block in [*before, *present] if block["type"] == "document")
    start = first_kept([share_of_images(block) for block in images.values()], WHOLE)
    return dict(list(images.items())[start:]) | choose_documents(documents, present)


def choose_documents(documents: dict[str, Block], present: Sequence[Block]) -> dict[str, Block]:
    """Chooses the present message's documents, whatever their length, and the newest others that fit."""
    start = first_kept([share_of_documents(block) for block in documents.values()], WHOLE)
    here = first_documents(by_id(block for block in present if block["type"] == "document"), DOCUMENT_BYTES)
    both = dict(list(documents.items())[start:]) | here
    return both if sum(map(bytes_of, both.values())) <= DOCUMENT_BYTES else here


def share_of_images(block: Block) -> int:
    """Returns a picture's share of the budget (out of `WHOLE`), by number, tokens or bytes, whichever is largest."""
    return max(WHOLE // IMAGES, share(tokens_of(block), IMAGE_TOKENS), share(bytes_of(block), IMAGE_BYTES))


def share_of_documents(block: Block) -> int:
    """Returns a document's share of the budget (out of `WHOLE`), by pages or bytes, whichever is larger."""
    return max(share(pages_of(block), PAGES), share(bytes_of(block), DOCUMENT_BYTES))


def share(part: int, most: int) -> int:
    return -(-part * WHOLE // most)


def by_id(blocks: Iterable[Block]) -> dict[str, Block]:
    """Returns files in the order in which they were last sent."""
    found: dict[str, Block] = {}
    for block in blocks:
        unique_id = block["file"]["unique_id"]
        found.pop(unique_id, None)
        found[unique_id] = block
    return found


def first_documents(documents: dict[str, Block], most: int) -> dict[str, Block]:
    """Returns the first documents whose bytes fit together, regardless of pages."""
    kept, used = {}, 0
    for unique_id, block in documents.items():
        used += bytes_of(block)
        if used <= most:
            kept[unique_id] = block
    return kept
