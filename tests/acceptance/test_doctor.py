"""`relay doctor` between the stand-ins: beside a running bot, and with various faults."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relay.clients.embedded.cluster import Cluster
from relay.clients.telegram.client import Telegram
from relay.core.errors import MessengerError
from relay.core.settings import Settings
from relay.jobs.watch.conditions import LOST
from relay.surfaces.cli.doctor import model, storage, telegram
from relay.surfaces.cli.doctor.finding import Finding
from relay.surfaces.telegram.incoming.polling import Polling
from relay.surfaces.telegram.turns.polling_lease import PollLease
from tests.acceptance.conftest import World
from tests.acceptance.harness import environment
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn
from tests.standins.telegram.values import TEST_TOKEN

NOWHERE = telegram.Running(here=False, elsewhere=False)


async def doctor(settings: dict[str, str], folder: Path, *words: str) -> tuple[int, str, str]:
    """Runs `relay doctor` and returns its exit code, its output and its error output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", "doctor", *words, env=settings, cwd=folder,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(90):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


# As a process.


async def test_doctor_reports_beside_a_running_bot_that_everything_works(world: World) -> None:
    folder = world.relay.log.parent
    settings = world.relay.environment
    polls = len(world.tg.calls("getUpdates"))
    code, page, beside = await doctor(settings, folder)
    assert (code, beside) == (0, "")
    lines = page.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "Everything works."
    assert "✓ one bot     Relay runs here" in lines
    assert "✓ database    embedded, PostgreSQL 18" in page
    answered = await world.tg.say(world.dm, world.owner, "hello")
    await world.tg.wait_reply(world.dm, answered)
    assert not [call for call in world.tg.calls("getUpdates")[polls:] if call.code == 409]
    assert "polling" not in world.relay.output()
    assert not [secret for secret in (TEST_TOKEN, "sk-ant-test") if secret in page]

    await world.relay.stop()
    cluster = Cluster(folder / "data")
    world.tg.can_read_all_group_messages = False
    code, told, beside = await doctor(settings | {"ANTHROPIC_API_KEY": "sk-ant-other"}, folder, "--json")
    found = {one["name"]: one for one in json.loads(told)["checks"]}
    assert (code, json.loads(told)["ok"]) == (1, False)
    assert found["model"]["state"] == "failed"
    assert found["groups"]["state"] == "warning"
    assert found["one bot"]["said"] == "Relay is not running, and no other program reads the bot's messages"
    assert found["database"]["state"] == "ok"
    assert not cluster.is_served(), "doctor stops the server that it started"
    assert "sk-ant-other" not in told + beside


async def test_doctor_reports_several_wrong_settings_at_once(tmp_path: Path) -> None:
    async with TelegramStandIn() as tg, AnthropicStandIn() as claude:
        wrong = {"RELAY_ADMINS": "@ada", "DATABASE_URL": "mysql://root:hunter22@db/x", "RELAY_MODLE": "x"}
        settings = environment(tg, claude, tmp_path / "data", **wrong)
        tg.stopped = True
        code, page, beside = await doctor(settings, tmp_path)
    assert (code, beside) == (2, "")
    for words in ("RELAY_ADMINS must be", "DATABASE_URL must be", "Did you mean RELAY_MODEL?"):
        assert words in page
    assert "– database    not checked: fix DATABASE_URL first" in page
    assert "✗ telegram    Relay can't reach 127.0.0.1" in page
    assert "✓ model       claude-sonnet-5-5" in page
    assert "hunter22" not in page
    assert os.listdir(tmp_path) == [], "doctor creates no files"


# In this process: each condition.


async def test_before_the_first_start_nothing_in_the_database_has_to_be_fixed(tmp_path: Path) -> None:
    first, *others = (await storage.look(Settings(_env_file=None, RELAY_DATA_DIR=tmp_path))).findings  # type: ignore[call-arg]
    assert (first.state, first.said) == ("skipped", "Relay's own; created at the first start")
    assert {(one.state, one.said) for one in others} == {("skipped", "not checked: there is no database yet")}
    assert os.listdir(tmp_path) == []


@pytest.fixture
async def tg() -> AsyncIterator[TelegramStandIn]:
    async with TelegramStandIn() as tg:
        yield tg


def given(tg: TelegramStandIn, **more: str) -> Settings:
    return Settings(_env_file=None, TELEGRAM_BOT_TOKEN=TEST_TOKEN, TELEGRAM_API_URL=tg.url, **more)  # type: ignore[arg-type,call-arg]


async def asked(settings: Settings, running: telegram.Running = NOWHERE) -> dict[str, Finding]:
    async def known() -> telegram.Running:
        return running

    return {one.name: one for one in await telegram.telegram(settings, known)}


@contextlib.asynccontextmanager
async def another(tg: TelegramStandIn) -> AsyncIterator[None]:
    """Another program that polls with the same token and starts again whenever it loses its poll."""
    client = Telegram(TEST_TOKEN, tg.url)
    await client.open()

    async def poll() -> None:
        while True:
            with contextlib.suppress(MessengerError):
                await client.call("getUpdates", timeout=30)

    polling = asyncio.create_task(poll())
    await tg.wait_polling()
    try:
        yield
    finally:
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)
        await client.close_pools()


async def test_another_program_that_reads_the_bots_messages_is_reported(tg: TelegramStandIn) -> None:
    async with another(tg):
        found = (await asked(given(tg)))["one bot"]
    assert (found.state, "another program" in found.said) == ("failed", True)
    assert "/revoke" in found.fix


@pytest.mark.parametrize(
    "running", [telegram.Running(True, False), telegram.Running(False, True), telegram.Running(None, False)]
)
async def test_doctor_does_not_poll_beside_a_running_bot(tg: TelegramStandIn, running: telegram.Running) -> None:
    assert (await asked(given(tg), running))["one bot"].state in ("ok", "skipped")
    assert tg.calls("getUpdates") == []


async def test_another_program_seen_by_the_running_bot_is_reported(tg: TelegramStandIn) -> None:
    me = TEST_TOKEN.partition(":")[0]
    for running in (telegram.Running(True, True, frozenset({me})), telegram.Running(False, True, frozenset({me}))):
        found = (await asked(given(tg), running))["one bot"]
        assert (found.state, "/revoke" in found.fix) == ("failed", True)
    assert (await asked(given(tg), telegram.Running(True, True, frozenset({"5"}))))["one bot"].state == "ok"
    assert tg.calls("getUpdates") == []


async def test_polling_notices_another_program(tg: TelegramStandIn) -> None:
    async def duty(*_: object) -> bool:
        return True

    store: Any = SimpleNamespace(hold_duty=duty, free_duty=duty)
    nobody: Any = None
    client = Telegram(TEST_TOKEN, tg.url)
    await client.open()
    polling = Polling(nobody, client, store, nobody, 12345, PollLease())
    running = asyncio.create_task(polling.run())
    try:
        await tg.wait_polling()
        assert polling.count_lost() == 0
        async with another(tg):
            await tg.wait_for(lambda: polling.count_lost() >= LOST, timeout=30)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await client.close_pools()


async def test_doctor_leaves_waiting_messages_at_telegram(tg: TelegramStandIn) -> None:
    await tg.say(tg.dm(tg.user(1001, "Ada")), None, "hello")
    assert (await asked(given(tg)))["messages"].said == "polled, 1 waiting"
    assert len(tg.pending_updates) == 1
    assert tg.acked == []


async def test_a_webhook_of_another_program_is_reported(tg: TelegramStandIn) -> None:
    tg.queue.webhook = {"url": "https://else.example/secretpath"}
    found = await asked(given(tg))
    assert (found["messages"].state, found["one bot"].state) == ("failed", "skipped")
    assert "else.example" in found["messages"].said
    assert "secretpath" not in str(found)


async def test_an_unknown_token_and_an_unreachable_telegram_are_reported(tg: TelegramStandIn) -> None:
    settings = given(tg).model_copy(update={"telegram_bot_token": "999:OTHER"})
    found = await asked(settings)
    assert found["telegram"].fix.startswith("Ask @BotFather")
    assert {found[name].state for name in ("messages", "one bot", "groups")} == {"skipped"}
    tg.stopped = True
    found = await asked(given(tg))
    assert (found["telegram"].state, "can't reach" in found["telegram"].said) == ("failed", True)
    assert "TELEGRAM_API_URL" in found["telegram"].fix


async def test_problems_with_the_models_are_reported() -> None:
    async with AnthropicStandIn() as claude:
        settings = Settings(_env_file=None, ANTHROPIC_API_KEY="sk-ant-test", ANTHROPIC_BASE_URL=claude.url)  # type: ignore[call-arg]
        assert [one.state for one in await model.model(settings)] == ["ok", "ok"]
        assert [one.body["max_tokens"] for one in claude.requests] == [1, 1], "the check asks for one token only"
        first, second = await model.model(settings.model_copy(update={"small_model": "haiku-of-another"}))
        assert (first.state, second.state) == ("ok", "failed")
        assert "haiku-of-another" in second.said
        assert "RELAY_SMALL_MODEL" in second.fix
        first, second = await model.model(settings.model_copy(update={"anthropic_api_key": "sk-ant-other"}))
        assert (first.state, first.fix, second.state) == ("failed", "Check ANTHROPIC_API_KEY.", "skipped")
        claude.fault("credit", times=2)
        first, second = await model.model(settings)
        assert (first.state, "out of credit" in first.said, second.state) == ("failed", True, "skipped")
        assert "top it up" in first.fix
    first, _ = await model.model(settings)
    assert (first.state, "ANTHROPIC_BASE_URL" in first.fix) == ("failed", True)
