"""Documents: PDF, text, tables, office files, books, archives: the text in them and, where the model can see them, they
themselves."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from relay.core.models import Attachment, Block
from relay.core.ports import FileExtractor
from relay.core.prompt_markup import estimate_tokens
from relay.media.cache import Cache
from relay.media.extraction.file_kinds import PICTURES, SOUNDS, VIDEOS
from relay.media.files import Files
from relay.media.media_cost import DOCUMENT_BYTES
from relay.media.prepared import PDF, Prepared, in_base64
from relay.media.reading import Kind, Read

SHOWN_TOKENS = 12_000
"""As much of a text as stands in the message itself; the rest is read part by part."""
VECTORS = "image/svg+xml"
SCRIPTS = "video/mp2t"
"""What Telegram takes TypeScript for, by its ending."""


class Documents:
    """Reads documents. A file that is a picture or a recording goes to whoever reads those."""

    def __init__(
        self, files: Files, opener: FileExtractor, sounds: Kind, pictures: Kind, most_pages: int, cache: Cache[Prepared]
    ) -> None:
        """`most_pages`: of a PDF that is shown as it is."""
        self._files = files
        self._opener = opener
        self._sounds = sounds
        self._pictures = pictures
        self._most_pages = most_pages
        self._cache = cache

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        if is_named(attachment, "image/", PICTURES):
            return await self._pictures.read(attachment)
        if is_named(attachment, "audio/", SOUNDS) or is_named(attachment, "video/", VIDEOS):
            return await self._sounds.read(attachment)
        async with self._files.held(attachment) as content:
            limits = {"pages": self._most_pages, "shown": DOCUMENT_BYTES}
            told, _ = await self._opener.open("document", content, name=attachment.name, **limits)
            if told.get("whole"):
                self._cache.put(attachment.unique_id, Prepared(await in_base64(content), PDF))
        if told["kind"] == "picture":
            return await self._pictures.read(attachment)
        if told["kind"] == "recording":
            return await self._sounds.read(attachment)
        return as_read(attachment, told)


def is_named(attachment: Attachment, mime: str, endings: tuple[str, ...]) -> bool:
    """Whether a file is of a kind, by what Telegram says of it."""
    if attachment.mime in (VECTORS, SCRIPTS):
        return False
    unsaid = attachment.mime in ("", "application/octet-stream")
    return attachment.mime.startswith(mime) or (unsaid and attachment.name.lower().rpartition(".")[2] in endings)


def as_read(attachment: Attachment, told: dict[str, Any]) -> Read:
    """What a document says, as it is stored. `told`: see `relay.media.extraction.document`."""
    name = attachment.name or f"a {told['kind']}"
    parts: list[str] = told["parts"]
    block: Block = {"file": asdict(attachment), "untrusted": "document", "from": name, "parts": len(parts)}
    if told["whole"]:
        block |= {"type": "document", "pages": told["pages"]}
    else:
        block |= {"type": "text", "text": beginning(name, told["kind"], parts)}
    kept = {
        "unique_id": attachment.unique_id,
        "name": name,
        "mime": attachment.mime,
        "kind": told["kind"],
        "pages": told["pages"],
        "parts": parts,
    }
    notice = f"📄 {name}: {told['note']}" if told["note"] else ""
    return Read([block], f"📄 {name}", [kept] if parts else [], notice)


def beginning(name: str, kind: str, parts: list[str]) -> str:
    """As many whole parts as a message holds, the first at least, under a line that says what they are of."""
    shown: list[str] = []
    used = 0
    for part in parts:
        used += estimate_tokens(part)
        if shown and used > SHOWN_TOKENS:
            break
        shown.append(part)
    head = f"{name} ({kind})"
    if len(shown) < len(parts):
        last = f"parts 1–{len(shown)}" if len(shown) > 1 else "part 1"
        head += f", {last} of {len(parts)}; read_document reads the others"
    return f"{head}:\n\n" + "\n\n".join(shown)
