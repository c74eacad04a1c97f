"""Results of derivations, kept for a while so that a model is asked no question twice: not after a crash between its
answer and the row that was to be made of it, nor when a record is derived again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from relay.memory.derivation import Derivation
from relay.memory.store import Store

Json = dict[str, Any]
MOST = 1_000
"""Results that are kept in a space, where the settings say nothing else; the least recently used go first."""


async def once(
    store: Store, space_id: int, derivation: Derivation, make: Callable[[], Awaitable[Json]], most: int = MOST
) -> Json:
    """What a derivation comes to: what it came to before, else what `make` makes, which is kept."""
    found = await store.result(space_id, derivation.hash)
    if found is not None:
        return found
    made = await make()
    await store.keep_result(space_id, derivation.as_json(), made, most)
    return made
