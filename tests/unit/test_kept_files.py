"""Files kept in a folder: remains of a crash, a nearly full disk, and removal."""

from __future__ import annotations

import shutil
from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path

import pytest
import structlog

from relay.clients.kept_files import KeptFiles
from relay.core.settings import Settings
from relay.memory.erasure import remove_files
from relay.memory.spending.budget import UNLIMITED
from relay.runtime.clients import Clients
from relay.runtime.runtime import Runtime
from relay.runtime.storage import Storage

Usage = namedtuple("Usage", "total used free")


async def test_a_half_written_file_is_removed_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "media"
    await KeptFiles(folder).put("AgADxyz", b"content")
    half = folder / "yz" / ".AgADuvwyz.partial"
    half.write_bytes(b"con")
    again = KeptFiles(folder)
    assert not half.exists()
    assert await again.get("AgADxyz") == b"content"
    assert folder.stat().st_mode & 0o777 == (folder / "yz").stat().st_mode & 0o777 == 0o700


async def test_no_files_are_kept_on_a_nearly_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = Usage(100e9, 99e9, 1e9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr("relay.clients.kept_files.log", structlog.get_logger())
    kept = KeptFiles(tmp_path / "media")
    with structlog.testing.capture_logs() as logs:
        for name in ("AgADa", "AgADb", "AgADc"):
            await kept.put(name, b"content")
            assert await kept.get(name) is None
    assert [one["event"] for one in logs] == ["files are not kept: the disk is nearly full"]
    usage = Usage(100e9, 50e9, 50e9)
    await kept.put("AgADa", b"content")
    assert await kept.get("AgADa") == b"content"


async def test_a_kept_file_is_removed_on_request(tmp_path: Path) -> None:
    kept = KeptFiles(tmp_path / "media")
    await kept.put("AgADxyz", b"content")
    await kept.put("AgADxyz-still", b"still")
    assert await kept.remove(["AgADxyz", "AgADxyz-still", "AgADnever"])
    assert await kept.get("AgADxyz") is None
    assert not [path for path in (tmp_path / "media").rglob("*") if path.is_file()]


async def test_erasing_removes_files_kept_before_keeping_was_turned_off(tmp_path: Path) -> None:
    kept = KeptFiles(tmp_path / "media")
    await kept.put("AgADxyz", b"content")
    settings = Settings(_env_file=None, RELAY_DATA_DIR=str(tmp_path), RELAY_KEEP_MEDIA="off")
    storage = Storage(None, None, "")  # type: ignore[arg-type]
    cleanup = Runtime(Clients(settings), storage, "a worker", UNLIMITED).erasure_cleanup
    store = FilesGone(["AgADxyz"])
    await remove_files(store, cleanup.media_store)  # type: ignore[arg-type]
    assert await kept.get("AgADxyz") is None
    assert store.left == []


class FilesGone:
    """A store that lists the kept files of erased data."""

    def __init__(self, left: list[str]) -> None:
        self.left = left

    async def files_gone(self, removed: Sequence[str] = ()) -> list[str]:
        self.left = [one for one in self.left if one not in removed]
        return self.left
