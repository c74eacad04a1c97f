"""The Anthropic stand-in accepts the same pictures and documents as the API."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.pictures import animation, picture
from tests.standins.anthropic.files import count, document, image
from tests.standins.anthropic.refusal import BadRequestError

Json = dict[str, Any]


def block(content: bytes, media_type: str = "image/jpeg", kind: str = "image") -> Json:
    data = base64.b64encode(content).decode()
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}


def test_pictures_and_pdfs_are_accepted() -> None:
    for kind in ("jpeg", "png", "gif", "webp"):
        image("m", block(picture(kind.upper()), f"image/{kind}"))
    image("m", block(animation(), "image/gif"))
    document("m", block(b"%PDF-1.7 and so on", "application/pdf", "document"))


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (block(picture("BMP"), "image/bmp"), "media_type: Input should be"),
        (block(picture("PNG"), "image/jpeg"), "appears to be a image/png image"),
        (block(b"no picture"), "Could not process image"),
        (block(b""), "image cannot be empty"),
        (block(picture("BMP", 1400, 1400), "image/png"), "exceeds 5 MB maximum"),
        (block(picture("PNG", 8001, 10), "image/png"), "exceed max allowed size: 8000"),
        ({"source": {"type": "base64", "media_type": "image/png", "data": "not base64!"}}, "Invalid base64"),
        ({"source": {"type": "unheard of"}}, "does not match"),
    ],
)
def test_pictures_that_the_api_refuses_are_refused(given: Json, refusal: str) -> None:
    with pytest.raises(BadRequestError, match=refusal):
        image("messages.0.content.0", given)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (block(b"%PDF-1.7", "text/plain", "document"), "should be 'application/pdf'"),
        (block(b"no pdf", "application/pdf", "document"), "not valid"),
        (block(b"%PDF-1.7 /Encrypt", "application/pdf", "document"), "password protected"),
        ({"source": {"type": "text", "media_type": "text/html"}}, "text/plain"),
    ],
)
def test_documents_that_the_api_refuses_are_refused(given: Json, refusal: str) -> None:
    with pytest.raises(BadRequestError, match=refusal):
        document("messages.0.content.0", given)


def test_many_pictures_must_be_small_and_limited_in_number() -> None:
    small, wide = block(picture("PNG", 20, 20), "image/png"), block(picture("PNG", 2001, 20), "image/png")
    count([{"role": "user", "content": [small] * 100}])
    count([{"role": "user", "content": [wide] * 20}])
    with pytest.raises(BadRequestError, match="too many images"):
        count([{"role": "user", "content": [small] * 101}])
    with pytest.raises(BadRequestError, match="2000 pixels"):
        count([{"role": "user", "content": [wide] * 21}])
