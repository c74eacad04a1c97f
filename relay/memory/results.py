"""Caches derivations' results, so that a model is not asked the same question twice: after a crash before the result
was stored, or when rederiving."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from relay.memory.calls.base import Row, decode_row, encode_row
from relay.memory.derivations.derivation import Derivation
from relay.memory.store import Store


async def get_or_make(
    store: Store, space_id: int, derivation: Derivation, kind: type[Row], make: Callable[[], Awaitable[Row]]
) -> Row:
    """Returns a derivation's result from the cache, or calls `make` and caches it."""
    found = await store.result(space_id, derivation.hash)
    if found is not None:
        return decode_row(kind, found)
    made = await make()
    await store.keep_result(space_id, derivation.as_json(), encode_row(kind, made), store.result_cache)
    return made
