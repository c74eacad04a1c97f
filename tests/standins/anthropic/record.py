"""The log, with one record per request."""

import time
from dataclasses import dataclass, field
from typing import Any

from .blocks import Json, as_blocks, plain

SECRET_HEADERS = frozenset({"x-api-key", "authorization"})


@dataclass(slots=True, eq=False)
class Recorded:
    """One request as received, and its outcome."""

    number: int
    path: str
    headers: dict[str, str]
    """Names in lower case, without the key."""
    body: Json
    at: float = field(default_factory=time.monotonic)
    """Monotonic seconds at arrival."""
    request_id: str = ""
    status: int | None = None
    outcome: str = "open"
    """open, ok, error, disconnected (the client left), or the name of the fault."""
    usage: Json = field(default_factory=dict)
    reply: list[Json] = field(default_factory=list)
    finished_at: float | None = None

    @property
    def model(self) -> str:
        """The requested model."""
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Json]:
        """The messages as sent."""
        return list(self.body.get("messages") or [])

    @property
    def system_text(self) -> str:
        """The text of all system blocks."""
        return plain(self.body.get("system"))

    @property
    def tool_names(self) -> list[str]:
        """Names of the tools offered."""
        return [str(tool.get("name")) for tool in self.body.get("tools") or []]

    @property
    def last_text(self) -> str:
        """All text of the last message, including tool results."""
        return plain(self.messages[-1].get("content")) if self.messages else ""

    @property
    def text(self) -> str:
        """All text of the prompt: system, then messages."""
        return "\n".join([self.system_text, *(plain(message.get("content")) for message in self.messages)])

    @property
    def tool_results(self) -> list[Json]:
        """The tool_result blocks of the last message."""
        content: Any = self.messages[-1].get("content") if self.messages else None
        return [block for block in as_blocks(content) if block.get("type") == "tool_result"]

    def user_turn(self) -> tuple[str, int]:
        """Return the user's latest text block (not a tool's result), and how many rounds of tools followed it."""
        rounds = 0
        for message in reversed(self.messages):
            blocks = as_blocks(message.get("content"))
            if message.get("role") == "assistant":
                rounds += any(block.get("type") == "tool_use" for block in blocks)
                continue
            texts = [block["text"] for block in blocks if block.get("type") == "text"]
            texts = [text for text in texts if not text.startswith("<context>")]  # Relay's own note about the turn
            if texts and not any(block.get("type") == "tool_result" for block in blocks):
                return texts[-1], rounds
        return "", 0

    def as_json(self) -> Json:
        """The record for the control surface."""
        return {
            "number": self.number,
            "path": self.path,
            "at": self.at,
            "finished_at": self.finished_at,
            "request_id": self.request_id,
            "status": self.status,
            "outcome": self.outcome,
            "usage": self.usage,
            "headers": self.headers,
            "body": self.body,
            "reply": self.reply,
        }
