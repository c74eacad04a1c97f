"""What rederivation would change, and its cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from relay.core.frozen import frozen

Step = Callable[[int], None]
"""Called with the number of steps done."""
Item = TypeVar("Item")
Made = TypeVar("Made")


@frozen
class Change:
    """A derived row before and after rederivation; None: it doesn't exist."""

    label: str
    before: str | None
    after: str | None
    apply: Callable[[], Awaitable[bool]]
    """Makes the change, unless the row has changed in the meantime. Returns whether it did."""

    @property
    def verdict(self) -> str:
        """Returns added, gone or changed."""
        return "added" if self.before is None else "gone" if self.after is None else "changed"


@frozen
class Estimate:
    """The expected model calls, and approximate input and output tokens."""

    calls: int = 0
    input: int = 0
    output: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.calls + other.calls, self.input + other.input, self.output + other.output)

    @property
    def usage(self) -> dict[str, int]:
        """Returns the estimate in the form that prices take."""
        return {"input_tokens": self.input, "output_tokens": self.output}


class Rederivation(Protocol):
    """A kind of derived rows that can be rederived."""

    async def estimate(self) -> Estimate:
        """Estimates the work from what another version made, without calling the model."""
        ...

    async def changes(self, done: Step) -> list[Change]:
        """Returns the changes without writing anything. Earlier answers come from the cache, also after a kill. Raises
        the model's errors and `BudgetUsedUp`."""
        ...

    async def finish(self) -> None:
        """Called when everything was applied, so nothing from another version is left."""
        ...


async def run_each(items: Sequence[Item], at_once: int, work: Callable[[Item], Awaitable[Made]]) -> list[Made]:
    """Returns the results of a few items at a time, in order. The first error ends all."""
    places = asyncio.Semaphore(at_once)

    async def run(item: Item) -> Made:
        async with places:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(item)) for item in items]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]
