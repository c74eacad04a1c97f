"""Faults that the API can have, on demand."""

from collections.abc import Callable
from dataclasses import dataclass
from re import Pattern
from typing import Literal

from .record import Recorded

Match = str | Pattern[str] | Callable[[Recorded], bool] | None

HTTP: dict[str, tuple[int, str, str]] = {
    "400": (400, "invalid_request_error", "Error"),
    "401": (401, "authentication_error", "invalid x-api-key"),
    "402": (402, "billing_error", "Your organization has a billing problem. Please check your payment details."),
    "403": (403, "permission_error", "Your API key does not have permission to use the specified resource."),
    "404": (404, "not_found_error", "model: {model}"),
    "413": (413, "request_too_large", "Request exceeds the maximum size"),
    "429": (429, "rate_limit_error", "This request would exceed your organization's rate limit. Please try again."),
    "500": (500, "api_error", "Internal server error"),
    "503": (503, "api_error", "Service temporarily unavailable"),
    "504": (504, "timeout_error", "The request timed out while processing."),
    "529": (529, "overloaded_error", "Overloaded"),
    "too_long": (400, "invalid_request_error", "prompt is too long: {tokens} tokens > {window} maximum"),
    "pdf": (400, "invalid_request_error", "Could not process PDF"),
    "image": (400, "invalid_request_error", "messages.0.content.1.image.source.base64.data: Could not process image"),
    "credit": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. "
        "Please go to Plans & Billing to upgrade or purchase credits.",
    ),
}
"""Faults that answer with an error: status, type, message."""

ALIASES = {
    "auth401": "401",
    "auth": "401",
    "billing": "402",
    "not_found": "404",
    "rate_limit": "429",
    "overloaded": "529",
}
WIRE = frozenset({"hang", "disconnect", "cut", "stall", "error_event"})
"""Faults of the connection or the stream."""
ANSWERS = frozenset({"refusal", "max_tokens", "empty", "context_window", "garbage_tool_input", "invalid_tool_input"})
"""Faults that produce an odd answer."""

Kind = (
    Literal[
        "auth401", "billing", "not_found", "rate_limit", "overloaded", "too_long", "credit",
        "hang", "disconnect", "cut", "stall", "error_event",
        "refusal", "max_tokens", "empty", "context_window", "garbage_tool_input", "invalid_tool_input",
    ]
    | str
    | int
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Fault:
    """One fault. If times is None, it stays."""

    kind: Kind
    times: int | None = 1
    after: int = 0
    """How many matching requests pass first."""
    match: Match = None
    model: str = ""
    """Substring of the model's name; empty for any."""
    retry_after: float | None = None
    """Seconds for the retry-after header. The default of a 429 is 1."""
    deltas: int | None = None
    """How many deltas to send before cut, stall, error_event and refusal strike (default: 3; 0 for a refusal)."""
    message: str | None = None
    stop_reason: str | None = None
    chance: float = 1.0
    hits: int = 0

    def __post_init__(self) -> None:
        self.kind = ALIASES.get(str(self.kind), str(self.kind))
        if self.kind not in HTTP and self.kind not in WIRE and self.kind not in ANSWERS:
            raise ValueError(f"no such fault: {self.kind}")

    @property
    def name(self) -> str:
        """The kind as a plain string."""
        return str(self.kind)


def matches(match: Match, request: Recorded) -> bool:
    """Whether the match of a rule or fault fits a request: a substring or regex of its last text, or a callable."""
    if match is None or match == "":
        return True
    if isinstance(match, str):
        return match in request.last_text
    if isinstance(match, Pattern):
        return match.search(request.last_text) is not None
    return bool(match(request))


class RefusedError(Exception):
    """The request gets an error as its answer."""

    def __init__(self, status: int, type: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.headers = status, type, message, headers or {}


def refusal(fault: Fault, model: str, tokens: int = 0, window: int = 200_000) -> RefusedError:
    """Return the error of an HTTP fault."""
    status, type, message = HTTP[fault.name]
    text = fault.message or message.format(model=model, tokens=max(tokens, window + 1), window=window)
    headers = {}
    if status in (429, 500, 503, 529):
        headers["x-should-retry"] = "true"
    if status == 429 or fault.retry_after is not None:
        headers["retry-after"] = f"{1 if fault.retry_after is None else fault.retry_after:g}"
    return RefusedError(status, type, text, headers)
