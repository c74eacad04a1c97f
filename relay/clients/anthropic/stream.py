"""Assembles a streamed message from the plain JSON of its events. The package's models would take far longer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from relay.core.models import Block
from relay.core.prompt_markup import estimate_tokens

DEEPEST = 100
"""The deepest nesting of a tool's input. Functions that walk the input recurse once per level."""
KINDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{\]}]', re.DOTALL)
"""Opening and closing brackets, and strings, in which brackets mean nothing."""
SEARCHES = "web_search_requests"
"""The count that a server may send besides tokens."""

Json = dict[str, Any]


@dataclass(slots=True)
class Streamed:
    """The part of a message that has arrived. Unknown kinds of events and deltas change nothing."""

    on_text: Callable[[str], None]
    blocks: list[Block] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    model: str = ""
    stop_reason: str | None = None
    _input: str = ""

    def __post_init__(self) -> None:
        self.usage.update(dict.fromkeys(KINDS, 0))

    def take(self, event: Json) -> None:
        """Takes the next event. Raises `ValueError`, `KeyError` or `IndexError` for an invalid one."""
        try:
            self._take(event)
        except (TypeError, AttributeError):
            raise ValueError("an event has an impossible value") from None

    def _take(self, event: Json) -> None:
        match event.get("type"):
            case "message_start":
                self.model = str(event["message"]["model"])
                self._count(event["message"].get("usage"))
            case "content_block_start":
                self.blocks.append(_new_block(event["content_block"]))
                self._input = ""
            case "content_block_delta":
                self._grow(self.blocks[event["index"]], event["delta"])
            case "content_block_stop":
                if self._input:
                    self.blocks[event["index"]]["input"], self._input = _input(self._input), ""
            case "message_delta":
                reason = event["delta"].get("stop_reason")
                self.stop_reason = str(reason) if reason else self.stop_reason
                self._count(event.get("usage"))

    def _grow(self, block: Block, delta: Json) -> None:
        match delta.get("type"):
            case "text_delta":
                block["text"] += delta["text"]
                self.on_text(delta["text"])
            case "input_json_delta":
                self._input += delta["partial_json"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta["citation"]]

    def _count(self, usage: Json | None) -> None:
        """Takes the newest counts: each event gives the totals of the message."""
        told = (usage or {}) | ((usage or {}).get("server_tool_use") or {})
        for kind in (*KINDS, SEARCHES):
            if type(count := told.get(kind)) is int and 0 <= count < 2**31:
                self.usage[kind] = count

    def count_heard(self) -> None:
        """Estimates the output tokens from the text, if the call ended before the final count."""
        if self.stop_reason is None:
            heard = estimate_tokens("".join(map(_written_text, self.blocks)) + self._input)
            self.usage["output_tokens"] = max(self.usage["output_tokens"], heard)

    def plain(self) -> list[Block]:
        """Returns the blocks as the API accepts them, without nulls."""
        return [_remove_null(block) for block in self.blocks]


def _written_text(block: Block) -> str:
    """Returns what the model wrote in a block: text, thoughts, or a tool's input."""
    given = json.dumps(block["input"], ensure_ascii=False) if block.get("input") else ""
    return f"{block.get('text') or ''}{block.get('thinking') or ''}{given}"


def _new_block(block: Block) -> Block:
    """Returns a new block. Raises `ValueError` if its text is not a string."""
    said: Block = {key: block[key] or "" for key in ("text", "thinking") if key in block}
    if not all(isinstance(one, str) for one in said.values()):
        raise ValueError("a block's text is not a string")
    return {**block, **said}


def _input(text: str) -> Any:
    """Returns a tool's input parsed; if it was cut off, the complete part. Raises `ValueError` for invalid or too
    deeply nested JSON."""
    signs = (one for one in BRACKETS.findall(text) if one[0] != '"')
    if max(accumulate(1 if one in "[{" else -1 for one in signs), default=0) > DEEPEST:
        raise ValueError("a tool's input is nested too deeply")
    try:
        return json.loads(text)
    except ValueError:
        from jiter import from_json

        return from_json(text.encode(), partial_mode=True)


def _remove_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _remove_null(item) for key, item in value.items() if item is not None}
    return [_remove_null(item) for item in value] if isinstance(value, list) else value
