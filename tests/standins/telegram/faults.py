"""Faults on demand: which requests they strike, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from tests.standins.telegram.values import ApiError, Json

KINDS = frozenset(
    {"429", "500", "502", "timeout", "lost", "late", "disconnect", "conflict409", "unauthorized401", "error"}
)
"""``timeout``: neither answered nor executed. ``lost``: executed, never answered. ``late``: executed and answered after
a delay. ``disconnect``: closed before it is executed. ``error``: any refusal."""


@dataclass(slots=True)
class Fault:
    """One fault. ``times`` below 0 means forever; ``after`` matching requests pass before the first hit."""

    method: str
    kind: str
    times: int = 1
    chat_id: int | None = None
    after: int = 0
    retry_after: int = 1
    delay: float = 1.0
    error_code: int = 400
    description: str = "Bad Request"
    hits: int = 0

    def __post_init__(self) -> None:
        self.kind = str(self.kind)
        if self.kind not in KINDS:
            raise ValueError(f"no such fault: {self.kind}; there are {sorted(KINDS)}")

    def strikes(self, method: str, params: Json) -> bool:
        """Whether the fault strikes this request. Counts it."""
        if self.method != "*" and self.method.lower() != method.lower():
            return False
        if self.chat_id is not None and params.get("chat_id") != self.chat_id:
            return False
        if self.after > 0:
            self.after -= 1
            return False
        if self.times == 0:
            return False
        self.times -= 1
        self.hits += 1
        return True

    def refusal(self) -> ApiError | None:
        """The error to answer with, for kinds that answer with one."""
        return {
            "429": ApiError(429, f"Too Many Requests: retry after {self.retry_after}", retry_after=self.retry_after),
            "500": ApiError(500, "Internal Server Error"),
            "502": ApiError(502, "Bad Gateway"),
            "conflict409": ApiError(
                409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
            ),
            "unauthorized401": ApiError(401, "Unauthorized"),
            "error": ApiError(self.error_code, self.description),
        }.get(self.kind)
