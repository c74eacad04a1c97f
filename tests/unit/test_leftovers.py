"""What is told of backups that may still hold what was erased, and what takes them away."""

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
from relay.archive.backup_purge import ErasureCleanup
from relay.archive.nightly import backup_name
from relay.clients.kept_files import KeptFiles
from relay.core.private_files import write_atomically


def leftovers(folder: Path) -> ErasureCleanup:
    backup: Any = SimpleNamespace(database=None)
    return ErasureCleanup(backup, folder, 7, KeptFiles(folder / "media"))


def test_it_is_told_when_the_last_backup_goes(tmp_path: Path) -> None:
    assert leftovers(tmp_path / "none").told() == "No backup in my folder of backups holds it."
    now = datetime.now(UTC)
    (tmp_path / backup_name(now)).touch()
    (tmp_path / backup_name(now - timedelta(days=3))).touch()
    assert leftovers(tmp_path).told() == (
        f"2 backups of before may still hold it; the last of them goes by {now + timedelta(days=8):%Y-%m-%d}."
    )


def test_a_file_named_for_a_day_that_never_was_is_no_backup(tmp_path: Path) -> None:
    for name in ("relay-99999999-999999.relaybackup", "relay-20260230-000000.relaybackup"):
        (tmp_path / name).touch()
    assert leftovers(tmp_path).told() == "No backup in my folder of backups holds it."


class Slow:
    """A backup that is made of what the database holds when it begins."""

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


async def test_while_a_backup_is_made_that_may_hold_what_was_erased_none_are_purged(tmp_path: Path) -> None:
    backup: Any = Slow("secret")
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
    assert [path.read_text() for path in own.files()] == [""]


async def test_a_backup_that_is_there_just_now_may_hold_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.archive.backup_purge.list_partials", lambda folder: [folder / ".renamed.partial"])
    with pytest.raises(BackupRefused, match="A backup is being made"):
        await leftovers(tmp_path).purge()


async def test_what_a_kill_left_of_a_backup_is_purged_too(tmp_path: Path) -> None:
    backup: Any = Slow("")
    backup.goes_on.set()
    left = tmp_path / f".{backup_name(datetime.now(UTC) - timedelta(hours=1))}.partial"
    left.write_text("secret")
    an_hour_ago = time.time() - 3600
    os.utime(left, (an_hour_ago, an_hour_ago))
    await ErasureCleanup(backup, tmp_path, 7, KeptFiles(tmp_path / "media")).purge()
    assert not left.exists()
