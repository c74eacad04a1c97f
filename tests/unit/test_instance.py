"""The files of a data directory: what root makes belongs to its owner, a lock that can't be used is explained, and what
the database starts with is on the disk."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from relay.clients.embedded.account import Account, write_private
from relay.clients.embedded.instance import Instance, in_use
from relay.core.errors import SettingsError
from relay.core.private_files import write_atomically

OWNER = 54321


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root makes files for another user")
def test_what_root_makes_in_a_data_directory_belongs_to_its_owner(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, OWNER, OWNER)
    one = Instance(data)
    with write_atomically(data / "backups" / "file") as file:
        file.write(b"")
    made = [data / "instances", data / "instances" / "0.lock", data / "backups"]
    assert {path.stat().st_uid for path in made} == {OWNER}
    one.release()


def test_a_lock_that_cannot_be_opened_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "instances" / "0.lock").mkdir(parents=True)
    one = Instance(tmp_path)
    assert (tmp_path / "instances" / "1").read_text() == one.name
    with pytest.raises(SettingsError, match=r"0\.lock: Is a directory\. Check its owner"):
        in_use(tmp_path)
    one.release()


def test_a_directory_that_cannot_hold_locks_is_explained(tmp_path: Path) -> None:
    (tmp_path / "instances").touch()
    with pytest.raises(SettingsError, match=r"RELAY_DATA_DIR: Relay cannot write in .*instances: Not a directory"):
        Instance(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="directories are not synced there")
def test_a_name_that_does_not_reach_the_disk_is_an_error_for_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        write_private(tmp_path / "relay.json", "{}", Account())
    with write_atomically(tmp_path / "backup") as file:  # not every file system of backups can sync directories
        file.write(b"rows")
    assert (tmp_path / "backup").read_bytes() == b"rows"
