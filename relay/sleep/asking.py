"""One question of the night to the small model: answered by a list, asked twice at most, paid for, never twice the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from relay.budget import UNLIMITED, Budget
from relay.derivation import Derivation
from relay.errors import BudgetUsedUp
from relay.jobs import asked, used_up
from relay.marks import text_block
from relay.memory.store import Store
from relay.models import ModelRequest
from relay.ports import Model
from relay.results import MOST, once
from relay.sleep.answers import AnswerUnclear, list_of

Json = dict[str, Any]
MODEL_SECONDS = 90
TRIES = 2


@dataclass(frozen=True, slots=True)
class Mind:
    """The small model and what its work at night needs."""

    store: Store
    model: Model
    model_name: str
    budget: Budget = UNLIMITED
    results: int = MOST

    async def answer(
        self,
        space_id: int,
        what: str,
        derivation: Derivation,
        words: tuple[str, str],
        most_tokens: int,
        read: Callable[[list[Json]], list[Json]],
    ) -> list[Json]:
        """What `read` makes of the answer to `words` (system, user), charged as `what`.

        `read` raises `AnswerUnclear` for an answer that does not fit; then it is asked once more. Raises what the model
        raises, `AnswerUnclear` among it, and `BudgetUsedUp`.
        """
        keep = partial(self.store.spend_night, space_id, what)
        request = ModelRequest(
            self.model_name,
            [text_block(words[0])],
            [{"role": "user", "content": [text_block(words[1])]}],
            most_tokens,
        )

        async def make() -> Json:
            if why := await used_up(self.store, self.budget):
                raise BudgetUsedUp(why)
            for attempt in range(1, TRIES + 1):
                step = await asked(self.model, request, MODEL_SECONDS, keep)
                try:
                    return {"list": read(list_of(step))}
                except AnswerUnclear:
                    if attempt == TRIES:
                        raise
            raise AssertionError

        found: list[Json] = (await once(self.store, space_id, derivation, make, self.results))["list"]
        return found
