"""Nights of a real bot: a digest comes once, even after a kill; the bot asks before it loses much; /status reports
them."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic.replies import Reply

DIGEST = json.dumps([{"topic": "Boats", "points": ["Ada bought the blue one, https://boats.example/7."]}])
LOST = json.dumps([{"pair": 1, "verdict": "contradicts"}])
SOON = 90


async def started(world: World, *flags: str) -> asyncio.subprocess.Process:
    """Starts `relay sleep …` beside the running bot."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", "sleep", *flags,
        env=world.relay.environment, cwd=world.relay.log.parent, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


async def relay_sleep(world: World, *flags: str) -> str:
    """Returns the output of `relay sleep …`."""
    process = await started(world, *flags)
    async with asyncio.timeout(SOON):
        out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    return out.decode()


async def said(world: World, text: str, answer: str = "Ok.") -> str:
    """Returns what the bot answers the owner."""
    before = len(world.tg.messages(world.dm))
    world.model.rule(text, answer, times=1)
    await world.tg.say(world.dm, world.owner, text)
    await world.tg.wait_for(
        lambda: len([one for one in world.tg.messages(world.dm)[before:] if one.from_bot]) > 0, timeout=SOON
    )
    return world.tg.messages(world.dm)[-1].text


def digests(world: World) -> list[str]:
    return [one.text for one in world.tg.messages(world.dm) if "What the day brought" in one.text]


async def digest_came(world: World) -> None:
    await world.tg.wait_for(lambda: digests(world), timeout=2 * SOON)


async def test_a_night_sends_one_digest_and_status_reports_it(world: World) -> None:
    world.model.rule("Write the digest now", DIGEST, model="haiku")
    assert "Every night I'll send a silent digest" in await said(world, "/digest on")
    await said(world, "I bought the blue boat")
    dry = await relay_sleep(world, "--now", "--dry-run")
    assert "digest: sends a digest to 1 space" in dry
    assert digests(world) == []
    told = await relay_sleep(world, "--now")
    assert "digests: 1" in told
    assert "backup of" in told
    await digest_came(world)
    (sent,) = [one for one in world.tg.messages(world.dm) if "What the day brought" in one.text]
    assert "Ada bought the blue one" in sent.text
    (call,) = [c for c in world.tg.calls("sendMessage") if "What the day brought" in str(c.params.get("text"))]
    assert "is_disabled" in str(call.params["link_preview_options"])
    assert str(call.params["disable_notification"]).lower() == "true"
    assert list((Path(world.relay.environment["RELAY_DATA_DIR"]) / "backups").glob("*.relaybackup"))
    status = await said(world, "/status")
    assert re.search(r"last night: .*backup of .* rows.*digests: 1; upkeep: .*analysed", status)
    assert "digests: none" in await relay_sleep(world, "--now"), "there is nothing new"
    assert "Last done on " in await relay_sleep(world)
    assert len(digests(world)) == 1


@pytest.mark.timeout(300)
async def test_the_bot_continues_a_night_interrupted_by_a_kill(world: World) -> None:
    world.model.rule("Write the digest now", Reply(DIGEST, first_delay=60), model="haiku", times=1)
    await said(world, "/digest on")
    await said(world, "I bought the blue boat")
    process = await started(world, "--now")
    await world.model.wait_requests(1, match="Write the digest now", model="haiku", timeout=SOON)
    process.kill()
    await process.wait()
    await world.relay.kill()
    world.model.rule("Write the digest now", DIGEST, model="haiku")
    shared_relay = SharedRelay(world.tg, world.model, world.relay, Path(world.relay.environment["RELAY_DATA_DIR"]))
    shared_relay.sql(
        "update relay.duty set lease_until = now()"
    )  # the leases of the killed processes, which last for seconds
    await world.relay.start()
    await digest_came(world)
    await said(world, "and what now")
    assert len(digests(world)) == 1
    assert "last night" in await said(world, "/status")


async def test_the_bot_asks_before_tidying_removes_many_memories(world: World) -> None:
    world.model.rule("Compare each pair now", LOST, model="haiku")
    await said(world, "I live in Berlin", "Ok [LEARN: Ada lives in Berlin with Max]")
    await said(world, "I moved", "Ok [LEARN: Ada lives in Lisbon with Max]")
    dry = await relay_sleep(world, "--dry-run")
    assert "replaced: Ada lives in Berlin with Max (newer: Ada lives in Lisbon with Max)" in dry
    assert "Berlin" in await said(world, "/memory")
    assert "asked about 1" in await relay_sleep(world, "--now")
    await world.tg.wait_for(lambda: "1 of 2 memories" in world.tg.messages(world.dm)[-1].text, timeout=SOON)
    asked = world.tg.messages(world.dm)[-1]
    assert "Berlin" in await said(world, "/memory")
    await world.tg.tap(world.dm, world.owner, asked, "Go on")
    await world.tg.wait_for(
        lambda: any("Tidied: 1 superseded" in one.text for one in world.tg.messages(world.dm)), timeout=SOON
    )
    assert "Berlin" not in await said(world, "/memory")


def in_a_moment() -> str:
    """Returns the next full minute that a start can reach."""
    return f"{datetime.now(ZoneInfo('Europe/Berlin')) + timedelta(seconds=70):%H:%M}"


@pytest.mark.slow("tests/integration/test_sleep.py, and the nights of this file that begin at once")
@pytest.mark.timeout(300)
async def test_a_night_begins_at_the_set_time_in_the_set_time_zone(world: World) -> None:
    world.relay.environment["RELAY_SLEEP_AT"] = in_a_moment()
    await world.relay.stop()
    await world.relay.start()
    await world.tg.wait_for(lambda: '"night done"' in world.relay.output(), timeout=200)
    assert "last night" in await said(world, "/status")
