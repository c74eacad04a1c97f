"""The stream: an answer as server-sent events."""

from collections.abc import Iterator

from .blocks import Json, dumps
from .replies import Answer

PING = b'event: ping\ndata: {"type": "ping"}\n\n'
STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def event(name: str, data: Json) -> bytes:
    """One named event."""
    return f"event: {name}\ndata: {dumps(data)}\n\n".encode("utf-8", "replace")


def pieces(value: str, size: int) -> list[str]:
    """Split a text into pieces of this many characters."""
    return [value[place : place + size] for place in range(0, len(value), size)]


def deltas(block: Json, size: int) -> Iterator[Json]:
    """The deltas that carry a block's content."""
    kind = block["type"]
    if kind == "text":
        for citation in block.get("citations") or []:
            yield {"type": "citations_delta", "citation": citation}
        for piece in pieces(block["text"], size):
            yield {"type": "text_delta", "text": piece}
    elif kind == "thinking":
        for piece in pieces(block["thinking"], size):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif kind in ("tool_use", "server_tool_use"):
        yield {"type": "input_json_delta", "partial_json": ""}
        for piece in pieces(block.get("_json", dumps(block["input"])), size):
            yield {"type": "input_json_delta", "partial_json": piece}


def opening(block: Json) -> Json:
    """A block as content_block_start shows it, without the content of the deltas."""
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": ""} | ({"citations": []} if block.get("citations") else {})
    if kind == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}
    shown = {key: value for key, value in block.items() if key != "_json"}
    return shown | {"input": {}} if kind in ("tool_use", "server_tool_use") else shown


def whole(block: Json) -> Json:
    """A block as a reply without streaming shows it. Invalid JSON input is wrapped."""
    if "_json" not in block:
        return block
    return {key: value for key, value in block.items() if key != "_json"} | {"input": {"INVALID_JSON": block["_json"]}}


def events(message: Json, answer: Answer, usage: Json, size: int) -> Iterator[tuple[bytes, bool]]:
    """Return all events of a message, each with whether it is a content delta."""
    start = message | {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": message["usage"] | {"output_tokens": 1},
    }
    yield event("message_start", {"type": "message_start", "message": start}), False
    for index, block in enumerate(answer.blocks):
        data = {"type": "content_block_start", "index": index, "content_block": opening(block)}
        yield event("content_block_start", data), False
        if index == 0:
            yield PING, False
        for delta in deltas(block, size):
            yield event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}), True
        yield event("content_block_stop", {"type": "content_block_stop", "index": index}), False
    delta = {
        "stop_reason": answer.stop_reason,
        "stop_sequence": answer.stop_sequence,
        "stop_details": answer.stop_details,
    }
    yield event("message_delta", {"type": "message_delta", "delta": delta, "usage": usage}), False
    yield STOP, False


def count_deltas(answer: Answer, size: int) -> int:
    """Count the content deltas of an answer."""
    return sum(1 for block in answer.blocks for _ in deltas(block, size))
