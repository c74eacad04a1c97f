"""No secret appears in what Relay says, writes, prints or passes to its processes, and nobody else can read its
files."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import stat
import sys
import zipfile
from collections.abc import Collection
from functools import partial
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from relay.clients.embedded.server import EmbeddedPostgres
from tests.acceptance.harness import OWNER
from tests.acceptance.process_group import free_port, postgres
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.pictures import picture
from tests.standins.telegram.values import TEST_TOKEN, Upload

KEY, HOOK = "sk-ant-api03-nobody-may-ever-see-this-key", "a-hook-secret-nobody-may-see"
SECRETS = (TEST_TOKEN, TEST_TOKEN.partition(":")[2], KEY, HOOK)


async def printed(shared_relay: SharedRelay, *words: str) -> str:
    """Returns everything that a command prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, env=shared_relay.relay.environment, cwd=shared_relay.data.parent,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(90):
        out, _ = await process.communicate()
    return out.decode()


def children(pid: int) -> list[int]:
    """Returns a process's descendants."""
    found = [
        int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
    ]
    return [*found, *(one for child in found for one in children(child))]


def told_to_processes(shared_relay: SharedRelay) -> list[str]:
    """Returns the command lines and environments of all processes that Relay started."""
    assert shared_relay.relay.process is not None
    return [
        (Path(f"/proc/{pid}") / name).read_bytes().decode("utf-8", "replace")
        for pid in children(shared_relay.relay.process.pid)
        for name in ("cmdline", "environ")
    ]


def open_to_others(folder: Path) -> list[str]:
    """Returns the files and folders that other users can access; nothing inside a closed folder counts. If Relay runs
    as root, it lets the database's user pass through folders, but not list them."""
    found = []
    for path in (path for path in (folder, *folder.iterdir()) if not path.is_symlink()):
        mode = stat.S_IMODE(path.lstat().st_mode)
        passed = path.is_dir() and os.geteuid() == 0
        if mode & (0o066 if passed else 0o077):
            found.append(f"{oct(mode)} {path}")
        if path != folder and path.is_dir() and mode & 0o011:
            found += open_to_others(path)
    return found


def held_in(secrets: Collection[str], text: str) -> list[str]:
    return [secret[:6] for secret in secrets if secret in text]


def passwords(url: str, data: Path) -> list[str]:
    """Returns the database's passwords: the one in its connection string, or those given to the embedded server."""
    if url:
        return [str(urlsplit(url).password)]
    kept = json.loads((data / "postgres/relay.json").read_text("utf-8"))
    return [kept["superuser"], kept["relay"]]


async def in_trouble(shared_relay: SharedRelay, server: EmbeddedPostgres, url: str) -> list[str]:
    """Returns the output with a wrong password, a missing database, an invalid connection string, and a stopped
    server."""
    password = str(urlsplit(url).password)
    told = []
    for wrong, command in (
        (url.replace(password, f"{password}x"), "run"),
        (url.replace("/relay?", "/other?"), "status"),
        (f"x{url}", "run"),
        (url, "run"),
    ):
        if wrong == url:
            await server.stop()
        shared_relay.relay.environment["DATABASE_URL"] = wrong
        told += await asyncio.gather(printed(shared_relay, "doctor"), printed(shared_relay, command))
    return told


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "own",
    [
        pytest.param(False, id="embedded"),
        pytest.param(True, id="DATABASE_URL", marks=pytest.mark.slow("the run on the embedded server")),
    ],
)
async def test_no_secret_is_disclosed_and_files_are_private(own: bool) -> None:
    async with postgres() as server:
        url = await server.start() if own else ""
        await no_secret_leaves(url)
        if own:
            async with open_relay(start=False, DATABASE_URL=url) as own_relay:
                own_relay.relay.log.touch()
                told = await in_trouble(own_relay, server, url)
            assert len(set(told)) > 3
            assert [held_in(passwords(url, own_relay.data), text) for text in told] == [[]] * len(told)


async def no_secret_leaves(url: str) -> None:
    """Checks a bot on that database, or on its embedded one."""
    port = str(free_port())
    settings = {
        "ANTHROPIC_API_KEY": KEY, "RELAY_WEBHOOK_SECRET": HOOK, "RELAY_KEEP_MEDIA": "on",
        "RELAY_WEB": "on", "RELAY_WEB_PORT": port, **({"DATABASE_URL": url} if url else {}),
    }  # fmt: skip
    async with open_relay(start=False, **settings) as shared_relay:
        shared_relay.model.api_key = KEY
        before = os.umask(0)
        try:
            await shared_relay.relay.start()
        finally:
            os.umask(before)
        await shared_relay.polled()
        leaks = partial(held_in, [*SECRETS, *passwords(url, shared_relay.data)])
        ada = shared_relay.tg.chat(OWNER)
        word = await shared_relay.asked(ada, "what are your keys")
        await shared_relay.answered(ada, word, timeout=40)
        shot = await shared_relay.tg.say(ada, None, "look", photo=Upload(picture("PNG", 64, 64), "a.png", "image/png"))
        await shared_relay.tg.wait_reply(ada, shot, timeout=40)
        assert url or told_to_processes(shared_relay), "at least the database process was started"
        assert [leaks(text) for text in told_to_processes(shared_relay) if leaks(text)] == []

        shared_relay.model.fault("401", match="who are you")
        asked = await shared_relay.tg.say(ada, None, "who are you")
        await shared_relay.tg.wait_reply(ada, asked, timeout=40)
        for command in ("/status", "/settings", "/users", "/usage", "/why", "/help"):
            said = await shared_relay.tg.say(ada, None, command)
            await shared_relay.tg.wait_reply(ada, said, timeout=40)
        for words in (("doctor", "--json"), ("status",), ("backup",), ("settings",)):
            assert leaks(await printed(shared_relay, *words)) == [], words
        (backup,) = (shared_relay.data / "backups").glob("*.relaybackup")
        assert leaks(gzip.decompress(backup.read_bytes()).decode()) == []
        told = await shared_relay.tg.say(ada, None, f"my keys are {TEST_TOKEN} and {KEY}")
        await shared_relay.tg.wait_reply(ada, told, timeout=40)
        await shared_relay.tg.say(ada, None, "/export")
        (export,) = await shared_relay.tg.wait_for(
            lambda: [one for one in shared_relay.replies(ada) if "document" in one.raw], 40
        )
        file = shared_relay.tg.files[export.raw["document"]["file_id"]].upload.data
        with zipfile.ZipFile(BytesIO(file)) as archive:
            packed = "".join(archive.read(name).decode() for name in archive.namelist())
        assert "what are your keys" in packed
        assert leaks(packed) == []
        assert packed.count("my keys are [redacted] and [redacted]") > 1, "in the text, the blocks and the page"
        events = json.dumps(shared_relay.sql("select e::text from relay.event e"))
        assert leaks(events) == []

        reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert leaks((await reader.read()).decode()) == []
        writer.close()
        shown = "".join(f"{one.text}{one.raw}" for one in shared_relay.tg.messages(ada) if one.from_bot)
        assert leaks(shown) == []
        assert leaks(shared_relay.relay.output()) == []
        assert open_to_others(shared_relay.data) == []
