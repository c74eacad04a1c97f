"""People's files, downloaded from Telegram: whole and within limits, or one of our errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from relay.clients.telegram.client import Telegram
from relay.core.errors import FileTooLarge, MessengerError, MessengerRefused, MessengerUnavailable, TokenRefused
from relay.core.settings import Settings
from relay.surfaces.cli.terminal.messenger import Terminal
from tests.standins.fakes import FakeMessenger
from tests.standins.telegram import TelegramStandIn, Upload
from tests.standins.telegram.values import TEST_TOKEN, StoredFile


@pytest.fixture
async def tg() -> AsyncIterator[TelegramStandIn]:
    async with TelegramStandIn() as tg:
        yield tg


@pytest.fixture
async def client(tg: TelegramStandIn, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Telegram]:
    """A client of the stand-in. Every phase of the test fails if anything logs the token; the library logs warnings
    only, as in a running Relay."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.WARNING, logger="telegram")
    client = Telegram(TEST_TOKEN, tg.url)
    await client.open()
    yield client
    await client.close_pools()


def kept(tg: TelegramStandIn, content: bytes, path: str = "", **more: object) -> StoredFile:
    file = tg.add_file(Upload(content, "soul.md", **more))
    if path:
        del tg.file_paths[file.path]
        file.path = path
        tg.file_paths[path] = file
    return file


@pytest.mark.parametrize("size", [1, 1000, 2**16 + 1, 300_000])
async def test_a_file_is_downloaded_whole(tg: TelegramStandIn, client: Telegram, size: int) -> None:
    content = bytes(n % 251 for n in range(size))
    assert await client.fetch(kept(tg, content).id, size) == content


async def test_a_path_may_contain_any_characters(tg: TelegramStandIn, client: Telegram) -> None:
    file = kept(tg, b"x", "documents/ä file #1 100%?.md")
    assert await client.fetch(file.id, 10) == b"x"


async def test_a_file_beyond_the_size_limit_is_refused(tg: TelegramStandIn, client: Telegram) -> None:
    claimed, unclaimed = kept(tg, b"x" * 1001), kept(tg, b"x" * 5_000_000, size=10)
    for file in (claimed, unclaimed):
        with pytest.raises(FileTooLarge):
            await client.fetch(file.id, 1000)
    assert [call.params for call in tg.calls("download")] == [{"file_path": unclaimed.path}]
    with pytest.raises(FileTooLarge):  # Telegram gives bots at most 20 MB
        await client.fetch(kept(tg, b"x", size=30_000_000).id, 40_000_000)


async def test_a_missing_file_is_refused(tg: TelegramStandIn, client: Telegram) -> None:
    with pytest.raises(MessengerRefused, match="rong file_id"):
        await client.fetch("no such file", 10)
    file = kept(tg, b"x")
    del tg.file_paths[file.path]
    with pytest.raises(MessengerRefused, match="404"):
        await client.fetch(file.id, 10)


@pytest.mark.parametrize("method", ["getFile", "download"])
@pytest.mark.parametrize("fault", ["500", "502", "disconnect"])
async def test_temporary_faults_may_be_retried(tg: TelegramStandIn, client: Telegram, method: str, fault: str) -> None:
    file = kept(tg, b"hello")
    # aiohttp itself retries a lost connection once if the request changes nothing.
    tg.fault(method, fault, times=2 if (method, fault) == ("download", "disconnect") else 1)
    with pytest.raises(MessengerUnavailable):
        await client.fetch(file.id, 10)
    assert await client.fetch(file.id, 10) == b"hello"


async def test_a_download_that_hangs_is_given_up(
    tg: TelegramStandIn, client: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.clients.telegram.client.FETCH_SECONDS", 0.3)
    tg.fault("download", "timeout")
    with pytest.raises(MessengerUnavailable):
        await client.fetch(kept(tg, b"x").id, 10)


async def test_a_wrong_token_is_reported(tg: TelegramStandIn, client: Telegram) -> None:
    tg.fault("getFile", "unauthorized401")
    with pytest.raises(TokenRefused):
        await client.fetch(kept(tg, b"x").id, 10)


async def test_an_unreachable_server_is_unavailable(tg: TelegramStandIn, client: Telegram) -> None:
    await tg.stop()
    with pytest.raises(MessengerUnavailable):
        await client.fetch("x", 10)
    await tg.start()


async def test_a_local_mode_server_names_the_file_on_its_disk(
    tg: TelegramStandIn, client: Telegram, tmp_path: Path
) -> None:
    path = tmp_path / TEST_TOKEN / "documents" / "ä file.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"from the disk")
    assert await client.fetch(kept(tg, b"x", str(path)).id, 100) == b"from the disk"
    with pytest.raises(FileTooLarge):
        await client.fetch(kept(tg, b"x", str(path)).id, 5)
    assert not tg.calls("download")
    for elsewhere in (str(tmp_path / "not there"), r"C:\files\soul.md"):
        with pytest.raises(MessengerRefused, match="where Relay cannot read"):
            await client.fetch(kept(tg, b"x", elsewhere).id, 100)


async def test_a_local_mode_server_cannot_name_our_own_files(
    tg: TelegramStandIn, client: Telegram, tmp_path: Path
) -> None:
    secret, own = tmp_path / ".env", tmp_path / TEST_TOKEN / "documents"
    secret.write_text("KEY=1")
    own.mkdir(parents=True)
    (own / "link").symlink_to(secret)
    for path in (secret, own / ".." / ".." / ".env", own / "link", Path("/dev/zero"), own):
        with pytest.raises(MessengerRefused):
            await client.fetch(kept(tg, b"x", str(path)).id, 100)


async def test_each_download_asks_for_the_current_path(tg: TelegramStandIn, client: Telegram) -> None:
    file = kept(tg, b"hello", "documents/file_1.md")
    assert await client.fetch(file.id, 10) == b"hello"
    del tg.file_paths[file.path]
    file.path = "documents/file_2.md"
    tg.file_paths[file.path] = file
    assert await client.fetch(file.id, 10) == b"hello"


async def test_other_messengers_fetch_files_or_refuse() -> None:
    with pytest.raises(MessengerError, match="not in the terminal"):
        await Terminal(Settings(_env_file=None)).fetch("x", 10)
    messenger = FakeMessenger()
    messenger.files["x"] = b"hello"
    assert await messenger.fetch("x", 5) == b"hello"
    with pytest.raises(FileTooLarge):
        await messenger.fetch("x", 4)
    with pytest.raises(MessengerRefused):
        await messenger.fetch("y", 4)
