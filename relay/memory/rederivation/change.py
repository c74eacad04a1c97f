"""What deriving again would change, and what it would cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

Step = Callable[[int], None]
"""Is told how many pieces of work are done now."""


@dataclass(frozen=True, slots=True)
class Change:
    """One derived row as it is and as it would be; None: it is not there."""

    what: str
    """summary or memory."""
    label: str
    before: str | None
    after: str | None
    apply: Callable[[], Awaitable[bool]]
    """Does it, unless the row has changed meanwhile; whether it did."""

    @property
    def verdict(self) -> str:
        """added, gone or changed."""
        return "added" if self.before is None else "gone" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be asked of a model: calls, and about how many tokens go in and come out."""

    calls: int = 0
    input: int = 0
    output: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.calls + other.calls, self.input + other.input, self.output + other.output)

    @property
    def usage(self) -> dict[str, int]:
        """As prices are asked for."""
        return {"input_tokens": self.input, "output_tokens": self.output}


class Again(Protocol):
    """Something that is derived from the record, all of it at once."""

    async def estimate(self) -> Estimate:
        """Looks through the record for what another version made; asks no model."""
        ...

    async def changes(self, done: Step) -> list[Change]:
        """Derives that again; nothing is written. What was asked before comes from the cache, also after a kill.

        Raises what the model raises, and `BudgetUsedUp`.
        """
        ...

    async def settled(self) -> None:
        """All of it was applied: there is no other version's any more."""
        ...
