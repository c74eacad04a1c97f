"""`relay memory …` beside a running bot: deciding about changes and deriving again. Also backup purge in the chat."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.test_capture import AUTO, KEPT, MOVED, finds, known, press, says, told
from tests.acceptance.test_terminal import relay

Json = dict[str, Any]
Shell = Callable[..., Awaitable[str]]
AGAIN = "Ada lives in the city of Lisbon since November."


@pytest.fixture
def shell(world: World, tmp_path: Path) -> Shell:
    """Runs `relay memory …`, which must succeed, and returns its output."""

    async def run(*words: str) -> str:
        code, shown = await relay(world.relay.environment, tmp_path, "memory", *words)
        assert code == 0, shown
        return shown

    return run


@AUTO
async def test_rederive_shows_the_differences_and_applies_them_on_request(
    world: World, shell: Shell, tmp_path: Path
) -> None:
    finds(world, "Lisbon", KEPT)
    await told(world, await says(world, MOVED, "How lovely!"), KEPT)
    finds(world, "Lisbon", AGAIN)
    environment = world.relay.environment
    environment["RELAY_SMALL_MODEL"] = "claude-haiku-6"
    code, shown = await relay(environment, tmp_path, "memory", "rederive")
    assert code != 0
    assert "Without a terminal, add --yes" in shown
    assert "derived by another version" in await shell("rederive", "--yes", "--since", "2100-01-01")
    assert "memory 1: Ada lives in the city of Lisbon" in await shell("rederive", "--dry-run", "--yes")
    assert KEPT in await known(world)
    assert "applied 1 of 1" in await shell("rederive", "--yes", "--since", "2020-01-01")
    assert AGAIN in await known(world)


@pytest.mark.slow("test_shell_output.py")
async def test_memory_changes_can_be_kept_discarded_and_undone_in_the_shell(
    world: World, shell: Shell, tmp_path: Path
) -> None:
    async def contents() -> list[str]:
        return [row["content"] for row in json.loads(await shell("show", "--json"))["memories"]]

    await says(world, "one q1", "Ok. [LEARN: Likes plums]")
    chosen = await world.tg.say(world.dm, world.owner, "/settings")
    await press(world, await world.tg.wait_reply(world.dm, chosen, timeout=30), "Ask")
    await says(world, "two q2", "Ok. [LEARN: Plays chess] [LEARN: Swims on Mondays]")
    waiting = {row["content"]: row for row in json.loads(await shell("waiting", "--json"))["changes"]}
    assert set(waiting) == {"Plays chess", "Swims on Mondays"}
    assert "Plays chess" in await shell("keep", str(waiting["Plays chess"]["id"]))
    await shell("discard", str(waiting["Swims on Mondays"]["id"]))
    assert set(await contents()) == {"Likes plums", "Plays chess"}
    await shell("undo", str(waiting["Plays chess"]["id"]))
    assert await contents() == ["Likes plums"]
    assert "Likes plums" in await shell("why")
    code, shown = await relay(world.relay.environment, tmp_path, "memory", "reset", "--yes", "5")
    assert code != 0
    assert "That would forget 1 memory." in shown
    assert "Forgot 1 memory." in await shell("reset", "--yes", "1")
    assert await contents() == []
    changes = json.loads(await shell("changes", "--json"))["changes"]
    gone = next(row["memory_id"] for row in changes if row["content"] == "Likes plums")
    await shell("restore", str(gone))
    assert await contents() == ["Likes plums"]
    await shell("edit", str(gone), "Likes", "pears")
    changes = json.loads(await shell("changes", "--json"))["changes"]
    assert "Likes plums" in await shell("restore", str(gone), "--wording", str(changes[0]["id"]))
    assert await contents() == ["Likes plums"]
    (kept,) = json.loads(await shell("show", "--json"))["memories"]
    await world.tg.wait_reply(world.dm, await world.tg.say(world.dm, world.owner, "/remember Eats plums"), timeout=30)
    eaten = json.loads(await shell("show", "--json"))["memories"][0]
    assert "Loves plums" in await shell("merge", str(kept["number"]), str(eaten["number"]), "Loves", "plums")
    assert await contents() == ["Loves plums"]


async def test_erasing_says_how_long_backups_hold_the_data_and_can_purge_them(world: World, tmp_path: Path) -> None:
    await says(world, "my parrot is Quinceberry q1", "Noted. [LEARN: Has a parrot called Quinceberry]")
    environment = world.relay.environment
    code, shown = await relay(environment, tmp_path, "backup")
    assert code == 0, shown
    folder = Path(environment["RELAY_DATA_DIR"]) / "backups"
    (old,) = folder.glob("*.relaybackup")
    asked = await world.tg.say(world.dm, world.owner, "/forget --erase Quinceberry")
    answer = await world.tg.wait_reply(world.dm, asked, timeout=30)
    await press(world, answer, "Erase for good")
    shown_now = await told(world, answer, "Erased for good")
    made = datetime.strptime(old.name, "relay-%Y%m%d-%H%M%S.relaybackup")
    assert (
        f"1 earlier backup may still contain it. It is deleted by {made + timedelta(days=8):%Y-%m-%d}."
        in shown_now.text
    )
    await press(world, shown_now, "Purge the backups")
    await world.tg.wait_for(lambda: "Removed 1 backup" in world.tg.messages(world.dm)[-1].text, timeout=30)
    (fresh,) = folder.glob("*.relaybackup")
    assert fresh != old
