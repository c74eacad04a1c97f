"""A process that makes versions with a slow model: `python -m tests.integration.version_worker URL ID`.

It prints one line for each piece that the model has compressed, with the hash of the piece.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Callable

from relay.clients.postgres.database import Postgres
from relay.core.models import ModelRequest, Step
from relay.jobs.runner import Runner
from relay.jobs.writing import compression_kind
from relay.memory.store import Store
from tests.integration.long_session import Obedient, compressor_of


class Slow(Obedient):
    """A model that compresses as requested, with delays."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        await asyncio.sleep(0.05)
        step = await super().reply(request, on_text)
        print(hashlib.sha256(self.asked[-1].encode()).hexdigest(), flush=True)
        await asyncio.sleep(0.05)  # allows a kill before the piece is kept
        return step


async def work(url: str, name: str) -> None:
    database = Postgres(url)
    await database.open()
    store = Store(database, name)
    await store.release()
    await Runner(store, [compression_kind(compressor_of(store, Slow()))]).run_due("compression", patience=30)
    await database.close()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
