"""What is told of backups that may still hold what was erased."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from relay.archive.leftovers import Leftovers
from relay.archive.nightly import named
from relay.clients.kept_files import KeptFiles


def leftovers(folder: Path) -> Leftovers:
    backup: Any = SimpleNamespace(database=None)
    return Leftovers(backup, folder, 7, KeptFiles(folder / "media"))


def test_it_is_told_when_the_last_backup_goes(tmp_path: Path) -> None:
    assert leftovers(tmp_path / "none").told() == "No backup in my folder of backups holds it."
    now = datetime.now(UTC)
    (tmp_path / named(now)).touch()
    (tmp_path / named(now - timedelta(days=3))).touch()
    assert leftovers(tmp_path).told() == (
        f"2 backups of before may still hold it; the last of them goes by {now + timedelta(days=8):%Y-%m-%d}."
    )


def test_a_file_named_for_a_day_that_never_was_is_no_backup(tmp_path: Path) -> None:
    for name in ("relay-99999999-999999.relaybackup", "relay-20260230-000000.relaybackup"):
        (tmp_path / name).touch()
    assert leftovers(tmp_path).told() == "No backup in my folder of backups holds it."
