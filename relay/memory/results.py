"""Results of derivations, kept for a while so that a model is asked no question twice: not after a crash between its
answer and the row that was to be made of it, nor when a record is derived again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from relay.memory.calls.base import Row, decode_row, encode_row
from relay.memory.derivation import Derivation
from relay.memory.store import Store

MOST = 1_000
"""Results that are kept in a space, where the settings say nothing else; the least recently used go first."""


async def once(
    store: Store,
    space_id: int,
    derivation: Derivation,
    kind: type[Row],
    make: Callable[[], Awaitable[Row]],
    most: int = MOST,
) -> Row:
    """The result of a derivation: the one that is in the cache, else what `make` makes, which goes there."""
    found = await store.result(space_id, derivation.hash)
    if found is not None:
        return decode_row(kind, found)
    made = await make()
    await store.keep_result(space_id, derivation.as_json(), encode_row(kind, made), most)
    return made
