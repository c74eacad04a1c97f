"""Documents: PDF, text, tables, office files, books and archives. Extracts their text, and shows PDFs whole where
possible."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Block
from relay.core.ports import FileExtractor
from relay.core.prompt_markup import estimate_tokens
from relay.media.cache import Cache
from relay.media.extraction.file_types import PICTURES, SOUNDS, VIDEOS
from relay.media.files import UNFETCHED, Files
from relay.media.media_cost import DOCUMENT_BYTES
from relay.media.prepared import PDF, PreparedFile, encode_base64
from relay.media.reading import FileContents, Kind

SHOWN_TOKENS = 12_000
"""How many tokens of the text the message itself shows; the rest is read part by part."""
UNSTORED = "Off the record I read only the first {shown} of its {parts} parts."
VECTORS = "image/svg+xml"
SCRIPTS = "video/mp2t"
"""The MIME type that Telegram gives TypeScript, because of its extension."""


class Documents:
    """Reads documents. Passes pictures and recordings to their readers."""

    def __init__(
        self,
        files: Files,
        extractor: FileExtractor,
        sounds: Kind,
        pictures: Kind,
        most_pages: int,
        cache: Cache[PreparedFile],
    ) -> None:
        """`most_pages`: the longest PDF that is shown whole."""
        self._files = files
        self._extractor = extractor
        self._sounds = sounds
        self._pictures = pictures
        self._by_content = {"picture": pictures, "recording": sounds}
        self._most_pages = most_pages
        self._cache = cache

    async def read(self, attachment: Attachment) -> FileContents:
        """Reads a file as what Telegram says it is. If it is something else, its content decides. Raises
        `MediaRefused`."""
        described = self._find_described(attachment)
        if described is None:
            return await self._read_as(attachment, await self._look(attachment))
        try:
            return await described.read(attachment)
        except MediaRefused as refusal:
            if str(refusal) in UNFETCHED:
                raise
            with suppress(MediaRefused):
                told = await self._look(attachment)
                if self._by_content.get(told["kind"]) is not described:
                    return await self._read_as(attachment, told)
            raise

    def _find_described(self, attachment: Attachment) -> Kind | None:
        """Returns the reader of a picture or recording, by Telegram's description; None: it is a document."""
        if is_kind(attachment, "image/", PICTURES):
            return self._pictures
        recording = is_kind(attachment, "audio/", SOUNDS) or is_kind(attachment, "video/", VIDEOS)
        return self._sounds if recording else None

    async def _look(self, attachment: Attachment) -> dict[str, Any]:
        """Detects a file's type by its content, and reads a document: see `relay.media.extraction.document`."""
        async with self._files.open(attachment) as content:
            limits = {"pages": self._most_pages, "shown": DOCUMENT_BYTES}
            told, _ = await self._extractor.open("document", content, name=attachment.name, **limits)
            if told.get("whole"):
                self._cache.put(attachment.unique_id, PreparedFile(await encode_base64(content), PDF))
        return told

    async def _read_as(self, attachment: Attachment, told: dict[str, Any]) -> FileContents:
        reader = self._by_content.get(told["kind"])
        return await reader.read(attachment) if reader else make_read(attachment, told)


def is_kind(attachment: Attachment, mime: str, endings: tuple[str, ...]) -> bool:
    """Tests whether a file is of a kind, by Telegram's description."""
    if attachment.mime in (VECTORS, SCRIPTS):
        return False
    unsaid = attachment.mime in ("", "application/octet-stream")
    return attachment.mime.startswith(mime) or (unsaid and attachment.name.lower().rpartition(".")[2] in endings)


def make_read(attachment: Attachment, told: dict[str, Any]) -> FileContents:
    """Converts a document to what is stored. `told`: see `relay.media.extraction.document`."""
    name = attachment.name or f"a {told['kind']}"
    parts: list[str] = told["parts"]
    stored = parts if attachment.kept else []
    block: Block = {"file": asdict(attachment), "untrusted": "document", "from": name, "parts": len(stored)}
    notes = [told["note"]] if told["note"] else []
    if told["whole"]:
        block |= {"type": "document", "pages": told["pages"]}
    else:
        shown = first_parts(parts)
        block |= {"type": "text", "text": show_parts(f"{name} ({told['kind']})", shown, len(parts), bool(stored))}
        notes += [] if stored or len(shown) == len(parts) else [UNSTORED.format(shown=len(shown), parts=len(parts))]
    kept = {"unique_id": attachment.unique_id, "name": name, "mime": attachment.mime, "parts": stored}
    kept |= {"kind": told["kind"], "pages": told["pages"]}
    notice = f"📄 {name}: {' '.join(notes)}" if notes else ""
    return FileContents([block], f"📄 {name}", [kept] if stored else [], notice)


def first_parts(parts: list[str]) -> list[str]:
    """Returns as many whole parts as fit into a message, at least the first."""
    shown: list[str] = []
    used = 0
    for part in parts:
        used += estimate_tokens(part)
        if shown and used > SHOWN_TOKENS:
            break
        shown.append(part)
    return shown


def show_parts(head: str, shown: list[str], parts: int, stored: bool) -> str:
    """Returns the first of a document's parts under a heading, which says how to read the others."""
    if len(shown) < parts:
        last = f"parts 1–{len(shown)}" if len(shown) > 1 else "part 1"
        head += f", {last} of {parts}; {'read_document reads the others' if stored else 'the others are not kept'}"
    return f"{head}:\n\n" + "\n\n".join(shown)
