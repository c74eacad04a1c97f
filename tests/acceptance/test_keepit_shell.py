"""`relay session keepits` and `keepit` beside a running bot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.shared_bot import SESSION, World
from tests.acceptance.test_capture import says
from tests.acceptance.test_terminal import relay


@SESSION
@pytest.mark.slow("test_command_surfaces.py")
async def test_markers_can_be_listed_set_weighted_and_removed_in_the_shell(shared_world: World, tmp_path: Path) -> None:
    async def shell(*words: str, ends: int = 0) -> str:
        chat = ("--chat", str(shared_world.dm.id))
        code, shown = await relay(shared_world.shell_settings, tmp_path, "session", *words, *chat)
        assert code == ends, shown
        return shown

    assert "Nothing is marked here yet." in await shell("keepits")
    await says(shared_world, "The gate is ##keepit0.80##always open", "Good to know.")
    listed = await shell("keepits")
    assert "0.80 (important): always open\n1 of 1." in listed
    first = listed.partition(" ")[0]
    kept = await shell("keepit", "pinned", "gate is always open")
    assert "1.00 (pinned): gate is always open" in kept
    second = kept.split()[1]
    page = json.loads(await shell("keepits", "--json"))
    assert [(f"p{row['id']}", row["weight"], row["origin"]) for row in page["keepits"]] == [
        (second, "1.00", "cli"), (first, "0.80", "text"),
    ]  # fmt: skip
    assert f"Kept {first} 0.25 (minor): always open" in await shell("keepit", "minor", "--of", first)
    assert "aggressive 30:1: ✖ 0.53" in await shell("keepit", "--of", first)
    assert f"Removed {first}" in await shell("keepit", "--of", first, "--remove")
    assert "1 of 1." in await shell("keepits")
    assert "can't find a message" in await shell("keepit", "0.9", "nobody", "said", "this", ends=1)
    assert "Name a weight and a passage" in await shell("keepit", "7", "always", ends=2)
    assert "A weight is a number from 0.00 to 1.00" in await shell("keepit", "7", "--of", second, ends=2)
    assert "gone" in await shell("keepit", "--of", "p999999", ends=1)
