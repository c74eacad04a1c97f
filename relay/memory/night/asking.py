"""Asks the small model for a list at night: at most twice, charged, and cached."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relay.core.charge import Charge
from relay.core.errors import EmptyAnswer, ModelRefused
from relay.core.frozen import frozen
from relay.core.models import Step
from relay.core.prompt_markup import make_request
from relay.memory.derivations.derivation import Derivation
from relay.memory.results import get_or_make
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

MODEL_SECONDS = 90
TRIES = 2
AnswerRow = Mapping[str, Any]
"""One object of the requested list."""


class AnswerUnclear(EmptyAnswer):
    """The model's answer doesn't have the requested form."""


def list_of(step: Step) -> list[AnswerRow]:
    """Returns the list of objects in a step, ignoring text around it. Raises `ModelRefused` for a refusal, and
    `AnswerUnclear` if there is no such list."""
    if step.stop_reason == "refusal":
        raise ModelRefused()
    text = "".join(block.get("text", "") for block in step.blocks)
    begin, end = text.find("["), text.rfind("]")
    try:
        found = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        raise AnswerUnclear() from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise AnswerUnclear()
    return found


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
        request = make_request(self.model_name, *words, most_tokens, form=True)

        async def make() -> AnswerList:
            for attempt in range(1, TRIES + 1):
                step = await self.gate.ask(request, charge, MODEL_SECONDS)
                try:
                    return AnswerList(read(list_of(step)))
                except AnswerUnclear:
                    if attempt == TRIES:
                        raise
            raise AssertionError

        return list((await get_or_make(self.store, space_id, derivation, AnswerList, make)).list)
