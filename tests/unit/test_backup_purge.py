"""Backups that may still hold erased data: what is reported, and how they are purged."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relay.archive.backup import BackupRefused
from relay.archive.nightly import ErasureCleanup, backup_name
from relay.clients.kept_files import KeptFiles
from relay.core.private_files import FileRefused, write_atomically


def cleanup(folder: Path) -> ErasureCleanup:
    backup: Any = SimpleNamespace(database=None)
    return ErasureCleanup(backup, folder, 7, KeptFiles(folder / "media"))


def test_an_erasure_says_when_the_last_backup_is_deleted(tmp_path: Path) -> None:
    assert cleanup(tmp_path / "none").describe_backups() == "No backup in my backup folder contains it."
    now = datetime.now(UTC)
    (tmp_path / backup_name(now)).touch()
    (tmp_path / backup_name(now - timedelta(days=3))).touch()
    assert cleanup(tmp_path).describe_backups() == (
        f"2 earlier backups may still contain it. The last of them is deleted by {now + timedelta(days=8):%Y-%m-%d}."
    )


async def test_a_folder_that_cannot_be_read_may_hold_backups(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    own = cleanup(tmp_path / "file")
    assert own.describe_backups() == "My backup folder can't be read, so earlier backups may still contain it."
    with pytest.raises(FileRefused, match="cannot be read"):
        await own.purge()


def test_a_file_named_after_an_impossible_date_is_no_backup(tmp_path: Path) -> None:
    for name in ("relay-99999999-999999.relaybackup", "relay-20260230-000000.relaybackup"):
        (tmp_path / name).touch()
    assert cleanup(tmp_path).describe_backups() == "No backup in my backup folder contains it."


class SlowBackup:
    """A backup of what the database holds when it begins."""

    database = None

    def __init__(self, holds: str) -> None:
        self.holds = holds
        self.goes_on = asyncio.Event()

    async def make(self, path: Path) -> Any:
        holds = self.holds
        with write_atomically(path) as file:
            await self.goes_on.wait()
            file.write(holds.encode())
        return SimpleNamespace(path=path)


async def test_purging_is_refused_while_a_backup_is_being_made(tmp_path: Path) -> None:
    backup: Any = SlowBackup("secret")
    own = ErasureCleanup(backup, tmp_path, 7, KeptFiles(tmp_path / "media"))
    (tmp_path / backup_name(datetime.now(UTC) - timedelta(days=3))).touch()
    night = asyncio.create_task(backup.make(tmp_path / backup_name(datetime.now(UTC) - timedelta(days=1))))
    await asyncio.sleep(0)
    backup.holds = ""
    with pytest.raises(BackupRefused, match="A backup is being made"):
        await own.purge()
    backup.goes_on.set()
    await night
    assert (await own.purge())[1] == 2
    assert [path.read_text() for path in own.files() or ()] == [""]


async def test_purging_is_refused_while_another_process_makes_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.archive.nightly.list_partials", lambda folder: [folder / ".renamed.partial"])
    with pytest.raises(BackupRefused, match="A backup is being made"):
        await cleanup(tmp_path).purge()


async def test_an_unfinished_backup_of_a_killed_process_is_purged_too(tmp_path: Path) -> None:
    backup: Any = SlowBackup("")
    backup.goes_on.set()
    left = tmp_path / f".{backup_name(datetime.now(UTC) - timedelta(hours=1))}.partial"
    left.write_text("secret")
    an_hour_ago = time.time() - 3600
    os.utime(left, (an_hour_ago, an_hour_ago))
    await ErasureCleanup(backup, tmp_path, 7, KeptFiles(tmp_path / "media")).purge()
    assert not left.exists()
