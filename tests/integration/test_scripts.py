"""Tests the API for scripts: memory without Telegram and without a model."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import relay
from relay.memory.api import Memory
from tests.integration.conftest import TEMPLATE, Server, Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver, fact, group, private

EXAMPLE = """\
import asyncio

import relay


async def main() -> None:
    async with relay.open() as opened:  # or relay.open("postgresql://…")
        memory = opened.memory
        kept = await memory.remember("Ada's boiler is a Vaillant, installed in 2019")
        for found in await memory.recall("how old is the boiler, the Vaillant?"):
            print(found.id, f"{found.at:%Y-%m-%d}", found.text)
        await memory.forget(kept)


asyncio.run(main())
"""
"""The example in the README."""


async def test_the_readme_example_runs(embedded: Server, tmp_path: Path) -> None:
    name = embedded.create(TEMPLATE)
    settings = {"DATABASE_URL": embedded.url(name), "RELAY_DATA_DIR": str(tmp_path), "RELAY_ADMINS": str(ADA)}
    settings |= {"RELAY_EMBEDDER": "off", "PYTHONPATH": str(Path(relay.__file__).parents[1])}
    try:
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", EXAMPLE], env=os.environ | settings, cwd=tmp_path,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        embedded.drop(name)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "Vaillant" in line]
    assert line.startswith("k")
    assert line.endswith("Ada's boiler is a Vaillant, installed in 2019")


def test_the_readme_contains_the_example() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert EXAMPLE in readme


def test_importing_the_package_loads_no_submodules() -> None:
    code = "import sys, relay; print(sorted(name for name in sys.modules if name.startswith('relay.')))"
    folder = str(Path(relay.__file__).parents[1])
    told = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
    assert relay.Space is type(private(ADA))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = relay.nothing_such  # type: ignore[attr-defined]


@pytest.fixture
def memory(driver: TurnDriver) -> Memory:
    return Memory(driver.store, frozenset([ADA]))


async def test_a_remembered_text_is_listed_found_and_forgotten(memory: Memory, sql: Sql) -> None:
    kept = await memory.remember("  Plays   the viola ", tags=["music"])
    ((content, subject, tags, turn),) = await sql("select content, subject_id, tags, turn_id from memory")
    assert (content, subject, tags) == ("Plays the viola", ADA, ["music"])
    assert turn is not None, "it must be in the list of changes, where it can be undone"
    assert [(one.id, one.text) for one in await memory.memories()] == [(kept, "Plays the viola")]
    assert [one.id for one in await memory.memories("viola")] == [kept]
    assert await memory.memories("trumpet") == []
    assert [one.id for one in await memory.search("viola", kinds=["memory"], tags=["music"])] == [kept]
    assert await memory.search("viola", kinds=["message"]) == []
    assert await memory.forget(kept)
    assert await memory.memories() == []
    assert not await memory.forget(kept)
    assert not await memory.forget("m1")
    assert not await memory.forget("all")


async def test_a_message_is_recalled_with_its_author_and_time(memory: Memory, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The plumber Mueller repaired the boiler", "Good to know.")
    (best, *_) = await memory.recall("Which plumber repaired the boiler?")
    assert (best.id[0], best.who, best.untrusted) == ("m", "Ada", False)
    assert best.at.tzinfo is not None
    assert best.score > 0
    assert len(await memory.recall("Which plumber repaired the boiler?", limit=1)) == 1


async def test_spaces_are_separate(memory: Memory, driver: TurnDriver) -> None:
    await driver.exchange(BEN, "my secret plumber", actions=[fact(BEN, "Has a secret plumber")])
    assert await memory.search("secret plumber") == []
    assert await memory.recall("the secret plumber again") == []
    assert await memory.memories() == []
    bens = await memory.search("secret plumber", private(BEN))
    assert {one.id[0] for one in bens} == {"m", "k"}
    number = next(one.id for one in bens if one.id[0] == "k")
    assert not await memory.forget(number)
    assert await memory.search("secret plumber", group()) == []
    assert await memory.remember("The house rule is quiet after ten", group())
    assert [one.who for one in await memory.memories(space=group())] == [""]


async def test_a_text_of_invalid_length_is_refused(memory: Memory) -> None:
    for text, kind in (("", "fact"), ("x" * 501, "fact"), ("x" * 2001, "learning")):
        with pytest.raises(ValueError, match="characters"):
            await memory.remember(text, kind=kind)
    assert await memory.remember("x" * 2000, kind="learning")


async def test_nothing_is_found_while_memory_is_off(memory: Memory, sql: Sql) -> None:
    await memory.remember("Plays the viola")
    await sql("update space set memory = 'off'")
    assert await memory.search("viola") == []
    assert len(await memory.memories()) == 1, "the owner must still see the memories"
