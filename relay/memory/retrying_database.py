"""A database that waits: every function of Relay may be repeated, so a call is repeated until it succeeds, or for some
seconds where somebody waits for the answer. A call that is always too slow fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from relay.core import metrics
from relay.core.errors import CallTooSlow, DatabaseError, DatabaseUnavailable, OtherVersion, SchemaError
from relay.core.ports import Database
from relay.core.program import RELAY
from relay.core.retry import RetryPolicy

log = structlog.get_logger()

RETRIES = RetryPolicy(first=0.1, longest=5.0)
SLOW_TRIES = 3
"""How often a call may take too long while the database answers others."""
SCHEMA_SECONDS = 60.0
"""How long a function may be missing, as while an upgrade replaces it."""
REACH_SECONDS = 120.0
"""How long to retry while an archive's database can't be reached."""
OTHER_VERSION = (
    "The database has no function relay_{} that fits this version of Relay. Restart Relay. If that doesn't help, "
    f"install the newest version and run `{RELAY} db migrate`."
)


class RetryingDatabase:
    """The `Database` port over another one. `repair` runs between attempts (to restart the embedded server). `seconds`:
    how long a call is repeated; None: until it succeeds."""

    def __init__(
        self, database: Database, repair: Callable[[], Awaitable[object]] | None = None, seconds: float | None = None
    ) -> None:
        self._database = database
        self._repair = repair
        self._seconds = seconds
        self._repairing: asyncio.Future[object] | None = None

    async def call(self, function: str, **arguments: Any) -> Any:
        """See `ports.Database.call`. Raises `DatabaseUnavailable` only after `seconds`. Waits for a missing function,
        too: the schema was right at the start, so someone is changing it. Raises `OtherVersion` if it stays missing,
        and `DatabaseError` for a call that is too slow each time."""
        slow = 0
        lacks_since = 0.0

        async def call() -> Any:
            nonlocal slow, lacks_since
            try:
                return await self._database.call(function, **arguments)
            except OtherVersion:
                raise
            except SchemaError as error:
                lacks_since = lacks_since or time.monotonic()
                if time.monotonic() - lacks_since >= SCHEMA_SECONDS:
                    raise OtherVersion(OTHER_VERSION.format(function)) from error
                raise DatabaseUnavailable(str(error)) from error
            except CallTooSlow as error:
                slow += 1
                if slow % SLOW_TRIES == 0 and await self._is_at_ease():
                    raise DatabaseError(f"The database took too long for {function}, {slow} times in a row.") from error
                raise

        async def repair(error: BaseException) -> None:
            log.warning("waiting for the database", function=function, error=str(error))
            metrics.RETRIES.labels("database", type(error).__name__).inc()
            await self.repair()

        begun = time.monotonic()
        try:
            return await call()
        except DatabaseUnavailable as error:
            left = None if self._seconds is None else self._seconds - (time.monotonic() - begun)
            if left is not None and left <= 0:
                raise
            await repair(error)
        return await RETRIES.run(call, (DatabaseUnavailable,), note=repair, seconds=left)

    async def _is_at_ease(self) -> bool:
        """Tests whether the database answers and none of its tables is locked, as while a night rewrites them."""
        try:
            return not await self._database.call("is_locked")
        except DatabaseError:
            return False

    async def repair(self) -> None:
        """Tries to repair the database, once for all waiting calls; logs a failure."""
        if self._repair is None:
            return
        if self._repairing is None or self._repairing.done():
            self._repairing = asyncio.ensure_future(self._repair())
        try:
            await asyncio.shield(self._repairing)
        except DatabaseError as error:
            log.warning("the database could not be started", error=str(error))


async def call_until_reached(
    database: Database, function: str, arguments: dict[str, Any], say: Callable[[str], None], hint: str
) -> Any:
    """Calls a repeatable function, and again for `REACH_SECONDS` while the database is unreachable. `say` is called
    with the reason for waiting. Raises `DatabaseUnavailable` with the hint when the time is over."""

    async def call() -> Any:
        return await database.call(function, **arguments)

    async def wait(error: BaseException) -> None:
        say(f"Waiting: {error}")

    try:
        return await RETRIES.run(call, (DatabaseUnavailable,), note=wait, seconds=REACH_SECONDS)
    except DatabaseUnavailable as error:
        raise DatabaseUnavailable(f"{error} {hint}") from error
