"""The locks of a data directory: what root makes belongs to its owner, and a lock that can't be used is explained."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

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
