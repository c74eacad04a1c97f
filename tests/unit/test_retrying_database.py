"""An unreachable database: calls wait for it, and it is brought back once for all of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from relay.core.errors import CallTooSlow, DatabaseError, DatabaseUnavailable, OtherVersion, SchemaError
from relay.memory import retrying_database
from relay.memory.retrying_database import SLOW_TRIES, RetryingDatabase


async def test_the_database_is_repaired_once_for_all_waiting_calls() -> None:
    """Each attempt takes a thread, and there are few: name lookups would have to wait as well."""
    repairs, up = 0, False

    class Down:
        async def call(self, function: str, **arguments: Any) -> str:
            if not up:
                raise DatabaseUnavailable("It is away.")
            return function

    async def repair() -> None:
        nonlocal repairs, up
        repairs += 1
        await asyncio.sleep(0.3)
        if repairs == 1:
            raise DatabaseUnavailable("It does not start.")
        up = True

    patient = RetryingDatabase(Down(), repair)  # type: ignore[arg-type]
    assert await asyncio.gather(*(patient.call("ping") for _ in range(20))) == ["ping"] * 20
    assert repairs == 2


async def test_a_call_that_somebody_waits_for_fails_after_some_seconds() -> None:
    calls = 0

    class Down:
        async def call(self, function: str, **arguments: Any) -> str:
            nonlocal calls
            calls += 1
            raise DatabaseUnavailable("It is away.")

    brief = RetryingDatabase(Down(), seconds=0.3)  # type: ignore[arg-type]
    async with asyncio.timeout(5):
        with pytest.raises(DatabaseUnavailable, match="It is away"):
            await brief.call("ping")
    assert calls > 1, "it is tried again"


class Slow:
    """A database that cancels every call but the one that asks whether its tables are locked."""

    def __init__(self, *locked: bool | None) -> None:
        """`locked`: the answers, one after the other; None: it doesn't answer."""
        self.locked = list(locked)
        self.calls = 0

    async def call(self, function: str, **arguments: Any) -> Any:
        if function == "is_locked" and (locked := self.locked.pop(0)) is not None:
            return locked
        self.calls += function != "is_locked"
        raise CallTooSlow("It was cancelled.")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying_database, "RETRIES", retrying_database.RetryPolicy(first=0.0))


class Lacking:
    """A database without a function, at first."""

    def __init__(self, times: int) -> None:
        self.times = times

    async def call(self, function: str, **arguments: Any) -> str:
        self.times -= 1
        if self.times >= 0:
            raise SchemaError("The database does not have this version's schema.")
        return function


@pytest.mark.usefixtures("hurried")
async def test_a_call_waits_while_a_function_is_replaced() -> None:
    assert await RetryingDatabase(Lacking(3)).call("begin") == "begin"  # type: ignore[arg-type]


@pytest.mark.usefixtures("hurried")
async def test_a_function_that_stays_missing_ends_the_call_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying_database, "SCHEMA_SECONDS", 0.05)
    async with asyncio.timeout(5):
        with pytest.raises(
            OtherVersion, match=r"no function relay_begin that fits this version of Relay.*Restart Relay"
        ):
            await RetryingDatabase(Lacking(10**9)).call("begin")  # type: ignore[arg-type]


@pytest.mark.usefixtures("hurried")
async def test_a_call_that_is_always_too_slow_fails() -> None:
    database = Slow(False)
    with pytest.raises(DatabaseError, match="took too long for begin") as raised:
        await RetryingDatabase(database).call("begin")  # type: ignore[arg-type]
    assert not isinstance(raised.value, DatabaseUnavailable), "nothing above may repeat it as if it were an outage"
    assert database.calls == SLOW_TRIES


@pytest.mark.usefixtures("hurried")
async def test_a_call_waits_for_a_database_that_is_away_or_locked() -> None:
    database = Slow(None, True, True, False)
    with pytest.raises(DatabaseError, match="took too long"):
        await RetryingDatabase(database).call("begin")  # type: ignore[arg-type]
    assert database.calls == 4 * SLOW_TRIES
