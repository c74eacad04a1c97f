"""Asks the small model for a list at night: at most twice, charged, and cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic

from relay.core.frozen import frozen
from relay.core.models import ModelRequest
from relay.core.spending.charge import Charge
from relay.memory.answers import InvalidAnswer, read_rows
from relay.memory.calls.base import Row
from relay.memory.derivations.derivation import Derivation
from relay.memory.results import get_or_make
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

MODEL_SECONDS = 90


@frozen
class AnswerList(Generic[Row]):
    """An answer in the cache."""

    list: Sequence[Row]


@frozen
class BatchModel:
    """The small model, and what its nightly work needs."""

    store: Store
    gate: Gate
    model_name: str

    async def answer(
        self,
        space_id: int,
        charge: Charge,
        derivation: Derivation,
        request: ModelRequest,
        row: type[Row],
        check: Callable[[list[Row]], list[Row]] = list,
        most: int | None = None,
    ) -> list[Row]:
        """Returns what `check` makes of the rows in the answer, charged to the space unless `charge` names who pays.
        `most`: how many rows are read. `check` raises `InvalidAnswer` for an invalid answer, which is retried once.
        Raises the model's errors, including `InvalidAnswer`, and `BudgetUsedUp`."""

        async def ask() -> AnswerList[Row]:
            step = await self.gate.ask(request, replace(charge, space_id=space_id), MODEL_SECONDS)
            return AnswerList(check(read_rows(step, row, most=most, cut=True)))

        async def make() -> AnswerList[Row]:
            try:
                return await ask()
            except InvalidAnswer:
                return await ask()

        kept = AnswerList[row]  # type: ignore[valid-type]  # a class at run time
        return list((await get_or_make(self.store, space_id, derivation, kept, make)).list)
