"""The prompt cache: which part of a prompt was seen before, counted as the API bills it."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .blocks import Json, as_blocks, dumps, tokens

LOOKBACK = 20
"""How many positions a breakpoint checks for an earlier cached prefix, including itself."""
SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(slots=True)
class Position:
    """The end of one block: the hash of everything up to it, the sum of its tokens, and its breakpoint, if any."""

    key: bytes
    tokens: int
    ttl: str | None


@dataclass(slots=True)
class Prompt:
    """A prompt in the order in which it is cached: tools, system, messages."""

    positions: list[Position] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """All input tokens."""
        return self.positions[-1].tokens if self.positions else 0


def ttl_of(block: Json) -> str | None:
    """The lifetime of a block's breakpoint ("5m", "1h"), or None. A breakpoint inside a tool result counts for it."""
    control = block.get("cache_control")
    if control:
        return str(control.get("ttl") or "5m")
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        return next((ttl for ttl in map(ttl_of, block["content"]) if ttl), None)
    return None


def canonical(block: Json) -> str:
    """The part of a block that the prefix hash covers: all but cache_control, with inner keys in their order."""
    if block.get("type") == "text" and not block.get("citations"):
        return "t" + str(block["text"])
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        block = block | {"content": [canonical(part) for part in block["content"]]}
    return "j" + dumps({key: block[key] for key in sorted(block) if key != "cache_control"})


def lay_out(body: Json) -> Prompt:
    """Lay a request's prompt out with its running hash and token count."""
    prompt = Prompt()
    digest = hashlib.blake2b(str(body.get("model")).encode(), digest_size=16)
    total = 0

    def add(place: str, block: Json) -> None:
        nonlocal total
        data = canonical(block).encode("utf-8", "replace")
        digest.update(f"\0{place}\0{len(data)}\0".encode())
        digest.update(data)
        total += tokens(block)
        prompt.positions.append(Position(digest.digest(), total, ttl_of(block)))

    for block in body.get("tools") or []:
        add("tool", block)
    for block in as_blocks(body.get("system")):
        add("system", block)
    # A change of these invalidates the messages, but nothing before them.
    digest.update(dumps([body.get("tool_choice"), body.get("thinking")]).encode())
    for message in body["messages"]:
        for block in as_blocks(message["content"]):
            add(message["role"], block)
    if body.get("cache_control") and prompt.positions:
        prompt.positions[-1].ttl = str(body["cache_control"].get("ttl") or "5m")
    return prompt


class PromptCache:
    """Prefixes seen within their lifetime. A hit renews it."""

    def __init__(self, minimum: int = 1024, clock: Callable[[], float] = time.monotonic) -> None:
        self.minimum = minimum
        self.clock = clock
        self.entries: dict[bytes, tuple[float, float]] = {}

    def clear(self) -> None:
        """Forget every prefix."""
        self.entries.clear()

    def read(self, prompt: Prompt) -> int:
        """Return the tokens of the longest cached prefix within reach of a breakpoint, and renew it."""
        now = self.clock()
        positions = prompt.positions
        for index in range(len(positions) - 1, -1, -1):
            if positions[index].ttl is None:
                continue
            for place in range(index, max(index - LOOKBACK, -1), -1):
                position = positions[place]
                entry = self.entries.get(position.key)
                if entry is not None and entry[0] > now and position.tokens >= self.minimum:
                    self.entries[position.key] = (now + entry[1], entry[1])
                    return position.tokens
        return 0

    def write(self, prompt: Prompt, read: int) -> Json:
        """Store the prefix at each breakpoint. Return the input part of the usage, given the tokens read."""
        now = self.clock()
        created = {"5m": 0, "1h": 0}
        done = read
        for position in prompt.positions:
            if position.ttl is None or position.tokens < self.minimum:
                continue
            if position.tokens > done:
                created[position.ttl] += position.tokens - done
                done = position.tokens
            lifetime = SECONDS[position.ttl]
            self.entries[position.key] = (now + lifetime, lifetime)
        if len(self.entries) > 50_000:
            self.entries = {key: entry for key, entry in self.entries.items() if entry[0] > now}
        return {
            "input_tokens": prompt.tokens - done,
            "cache_creation_input_tokens": done - read,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": created["5m"], "ephemeral_1h_input_tokens": created["1h"]},
        }
