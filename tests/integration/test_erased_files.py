"""Checks that erased words are gone from the database's files: tables, indexes, statistics and write-ahead log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from relay.clients.embedded.cluster import Cluster
from relay.clients.postgres.database import Postgres
from relay.core.models import Space
from relay.core.settings import Settings
from relay.memory.store import Store
from relay.runtime.night import rewrite_files
from relay.runtime.runtime import open_runtime
from relay.surfaces.cli.memory.erase import erase
from relay.surfaces.cli.terminal.once import run_once
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.turn_driver import FINISHED, TurnDriver, fact
from tests.places import furnish

WORD = b"zanzibarix"
OWNER = 1


def occurrences(data: Path) -> dict[str, int]:
    """Returns how often the word occurs in the data directory's files, by the first two folders of their paths."""
    found: dict[str, int] = {}
    for path in data.rglob("*"):
        if path.is_file() and not path.is_socket():
            number = path.read_bytes().lower().count(WORD)
            place = "/".join(path.relative_to(data).parts[:2])
            found[place] = found.get(place, 0) + number
    return {place: number for place, number in found.items() if number}


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    """An embedded database in which the word occurs often."""
    data = tmp_path / "data"
    await furnish(data)
    own = Settings(RELAY_DATA_DIR=data, RELAY_ADMINS=str(OWNER), RELAY_EMBEDDER="off")
    async with open_runtime(own) as relay:
        driver = TurnDriver(relay.store)
        for number in range(40):
            text = f"Zanzibarix number {number} sails to the harbour of zanzibarix"
            await driver.exchange(
                OWNER, text, f"Zanzibarix {number}, I see.", actions=[fact(OWNER, f"zanzibarix {number}")]
            )
        with psycopg.connect(Cluster(data).url("postgres"), autocommit=True) as connection:
            connection.execute("analyze; checkpoint")
            connection.execute("update relay.message set text = text || ' '")
            connection.execute("select pg_switch_wal()")
            connection.execute("update relay.message set text = text || ' '")
            for _ in range(3):  # leaves log files that wait to be reused
                connection.execute("select pg_logical_emit_message(false, 'x', 'zanzibarix'), pg_switch_wal()")
                connection.execute("checkpoint")
    return own


async def test_words_erased_on_request_are_in_no_file(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    before = occurrences(settings.data_dir)
    assert before["postgres/base"] > 100
    assert before["postgres/pg_wal"] > 100
    async with open_runtime(settings):  # with the bot's runtime open
        await erase(settings, "zanzibarix", True, False, False)
        assert "None of what you erased is left in them" in capsys.readouterr().out
        assert occurrences(settings.data_dir) == {}
    assert occurrences(settings.data_dir) == {}


@pytest.mark.slow("test_words_erased_on_request_are_in_no_file")
async def test_words_erased_in_the_chat_are_removed_from_files_at_night(settings: Settings) -> None:
    async with open_runtime(settings) as relay:
        assert await rewrite_files(relay) == {"skipped": "nothing was erased"}
        await erased_in_the_chat(relay.store)
        assert await relay.erasure_cleanup.is_owed()
        assert occurrences(settings.data_dir)
        assert await rewrite_files(relay) == {"remains": ""}
        assert occurrences(settings.data_dir) == {}
        assert not await relay.erasure_cleanup.is_owed()


async def erased_in_the_chat(store: Store) -> None:
    shown = await store.erase_preview(Space("private", owner_id=OWNER), {"words": "zanzibarix"}, OWNER, True)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, OWNER, True)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass


@pytest.mark.slow("test_words_erased_on_request_are_in_no_file")
async def test_clearing_waits_for_open_readers(settings: Settings) -> None:
    async with open_runtime(settings) as relay:
        async with relay.database.snapshot() as reading:  # type: ignore[attr-defined]
            await reading.call("schema")
            await erased_in_the_chat(relay.store)
            clearing = asyncio.create_task(relay.erasure_cleanup.clear())
            await asyncio.sleep(1)
            assert not clearing.done(), "a table rewritten now would keep the rows that the reader may see"
        assert await clearing == ""
        assert occurrences(settings.data_dir) == {}


async def test_an_external_server_has_only_its_tables_rewritten(url_server: Server) -> None:
    name = url_server.create(TEMPLATE)
    url_server.command("revoke execute on function pg_catalog.pg_switch_wal() from relay", name)
    database = Postgres(url_server.url(name))
    await database.open()
    try:
        assert await database.rewrite() is False
    finally:
        await database.close()
        url_server.drop(name)


@pytest.mark.slow("test_words_erased_on_request_are_in_no_file")
async def test_an_interrupted_clearing_is_still_due(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def killed(self: Postgres) -> bool:
        raise asyncio.CancelledError

    async with open_runtime(settings) as relay:
        await run_once(settings, "remember", "I row a zanzibarix")
        await erased_in_the_chat(relay.store)
        with monkeypatch.context() as patch:
            patch.setattr(Postgres, "rewrite", killed)
            with pytest.raises(asyncio.CancelledError):
                await relay.erasure_cleanup.clear()
        assert await rewrite_files(relay) == {"remains": ""}
        assert occurrences(settings.data_dir) == {}
