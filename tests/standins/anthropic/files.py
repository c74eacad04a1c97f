"""Limits on pictures and documents: their types, sizes and number."""

import base64
import binascii
import io
import re
from collections.abc import Iterator
from typing import Any

from PIL import Image, UnidentifiedImageError

from .blocks import Json, as_blocks
from .refusal import BadRequestError
from .vocabulary import IMAGES

MOST_IMAGE_BYTES = 5 * 2**20
MOST_IMAGES = 100
MANY = 20
"""If a request has more images than this, each may have `MOST_OF_MANY` pixels per side instead of `MOST_PIXELS`."""
MOST_PAGES = 100
PAGE = re.compile(rb"/Type\s*/Page\b")
MOST_PIXELS, MOST_OF_MANY = 8000, 2000


def image(where: str, block: Json) -> None:
    """Raise BadRequestError for an image block that the API would refuse."""
    source = block.get("source") or {}
    if source.get("type") not in ("base64", "url", "file"):
        raise BadRequestError(f"{where}.image.source: Input tag does not match any of the expected tags")
    if source["type"] != "base64":
        return
    place = f"{where}.image.source.base64"
    if source.get("media_type") not in IMAGES:
        raise BadRequestError(
            f"{place}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        )
    if not source.get("data"):
        raise BadRequestError(f"{place}: image cannot be empty")
    data = _decoded(place, source["data"])
    if len(source["data"]) > MOST_IMAGE_BYTES:
        raise BadRequestError(
            f"{place}: image exceeds 5 MB maximum: {len(source['data'])} bytes > {MOST_IMAGE_BYTES} bytes"
        )
    try:
        with Image.open(io.BytesIO(data)) as found:
            found.load()
            kind, size = Image.MIME[str(found.format)], found.size
    except (UnidentifiedImageError, OSError):
        raise BadRequestError(f"{where}.image.source.base64.data: Could not process image") from None
    if kind != source["media_type"]:
        raise BadRequestError(
            f"{place}.data: The image was specified using the {source['media_type']} media type, but the image appears "
            f"to be a {kind} image"
        )
    if max(size) > MOST_PIXELS:
        raise BadRequestError(
            f"{place}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"
        )


def document(where: str, block: Json) -> None:
    """Raise BadRequestError for a document block that the API would refuse."""
    source = block.get("source") or {}
    place = f"{where}.document.source"
    if source.get("type") not in ("base64", "text", "content", "url", "file"):
        raise BadRequestError(f"{place}: Input tag does not match any of the expected tags")
    if source["type"] == "text" and source.get("media_type") != "text/plain":
        raise BadRequestError(f"{place}.text.media_type: Input should be 'text/plain'")
    if source["type"] != "base64":
        return
    if source.get("media_type") != "application/pdf":
        raise BadRequestError(f"{place}.base64.media_type: Input should be 'application/pdf'")
    data = _decoded(f"{place}.base64", source.get("data"))
    if not data.startswith(b"%PDF-"):
        raise BadRequestError(f"{place}.base64.data: The PDF specified was not valid.")
    if b"/Encrypt" in data:
        raise BadRequestError(f"{place}.base64.data: The PDF specified is password protected.")


def count(messages: list[Json]) -> None:
    """Raise BadRequestError if a request has too many images or PDF pages, or too large images for their number."""
    pages = sum(
        len(PAGE.findall(base64.b64decode(block["source"]["data"])))
        for message in messages
        for block in as_blocks(message["content"])
        if block["type"] == "document" and block["source"]["type"] == "base64"
    )
    if pages > MOST_PAGES:
        place = "messages.0.content.0.pdf.source.base64.data"
        raise BadRequestError(f"{place}: A maximum of {MOST_PAGES} PDF pages may be provided.")
    images = list(_images(messages))
    if len(images) > MOST_IMAGES:
        raise BadRequestError(f"messages: too many images: {len(images)} > {MOST_IMAGES}")
    if len(images) <= MANY:
        return
    for block in images:
        if block["source"]["type"] == "base64":
            with Image.open(io.BytesIO(base64.b64decode(block["source"]["data"]))) as found:
                if max(found.size) > MOST_OF_MANY:
                    raise BadRequestError(
                        "messages: At least one of the image dimensions exceed max allowed size for many-image "
                        "requests: 2000 pixels"
                    )


def _images(messages: list[Json]) -> Iterator[Json]:
    for message in messages:
        for block in as_blocks(message["content"]):
            inner = as_blocks(block.get("content")) if block["type"] == "tool_result" else []
            yield from (one for one in (block, *inner) if one["type"] == "image")


def _decoded(where: str, data: Any) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise BadRequestError(f"{where}.data: Invalid base64 data") from None
