"""Encodes a model request without blocking the event loop on large files. Pure."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from relay.core.models import Block


def encode_body(body: Mapping[str, Any]) -> bytes:
    """Encodes the request as JSON. Inserts base64 unchanged: scanning megabytes of it for characters to escape would
    block the loop."""
    mark = f"placeholder of a file {secrets.token_hex(16)}"
    files: list[bytes] = []

    def sparing(block: Block) -> Block:
        source = block.get("source")
        if not isinstance(source, dict) or source.get("type") != "base64":
            return block
        files.append(source["data"].encode("ascii"))
        return {**block, "source": {**source, "data": mark}}

    messages = [{**message, "content": list(map(sparing, message["content"]))} for message in body["messages"]]
    first, *others = _encode({**body, "messages": messages}).split(mark.encode())
    pieces = [first]
    for file, other in zip(files, others, strict=True):
        pieces += [file, other]
    return b"".join(pieces)


def _encode(body: Mapping[str, Any]) -> bytes:
    """Encodes a request. Half of a surrogate pair, which UTF-8 can't hold, becomes a question mark."""
    try:
        return to_json(body)
    except PydanticSerializationError:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
