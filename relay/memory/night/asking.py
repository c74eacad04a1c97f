"""Asks the small model for a list at night: at most twice, charged, and cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.core.charge import Charge
from relay.core.frozen import frozen
from relay.core.models import ModelRequest
from relay.core.prompt_markup import text_block
from relay.memory.derivations.derivation import Derivation
from relay.memory.night.answers import AnswerRow, AnswerUnclear, list_of
from relay.memory.results import MOST, get_or_make
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

MODEL_SECONDS = 90
TRIES = 2


@frozen
class AnswerList:
    """An answer in the cache."""

    list: Sequence[AnswerRow]


@frozen
class BatchModel:
    """The small model, and what its nightly work needs."""

    store: Store
    gate: Gate
    model_name: str
    results: int = MOST

    async def answer(
        self,
        space_id: int,
        what: str,
        derivation: Derivation,
        words: tuple[str, str],
        most_tokens: int,
        read: Callable[[list[AnswerRow]], list[AnswerRow]],
        user_id: int | None = None,
    ) -> list[AnswerRow]:
        """Returns what `read` makes of the answer to `words` (system, user), charged as `what` to `user_id` (None: the
        space's owner). `read` raises `AnswerUnclear` for an invalid answer, which is retried once. Raises the
        model's errors, including `AnswerUnclear`, and `BudgetUsedUp`."""
        charge = Charge(what, user_id=user_id, space_id=space_id)
        request = ModelRequest(
            self.model_name,
            [text_block(words[0])],
            [{"role": "user", "content": [text_block(words[1])]}],
            most_tokens,
            form=True,
        )

        async def make() -> AnswerList:
            for attempt in range(1, TRIES + 1):
                step = await self.gate.ask(request, charge, MODEL_SECONDS)
                try:
                    return AnswerList(read(list_of(step)))
                except AnswerUnclear:
                    if attempt == TRIES:
                        raise
            raise AssertionError

        return list((await get_or_make(self.store, space_id, derivation, AnswerList, make, self.results)).list)
