"""When Relay runs as root, the database's user gets through to its files, and nobody else does."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from relay.clients.embedded.account import Account
from relay.clients.embedded.passage import let_through

OURS, STRANGER = 54321, 54322

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="root alone opens the way for another user"
)


def reaches(user: int, path: Path) -> bool:
    """Whether a user can access a file."""
    look = subprocess.run(
        ["/usr/bin/stat", str(path)], user=user, group=user, extra_groups=[], capture_output=True, check=False
    )
    return look.returncode == 0


def test_only_the_databases_user_gets_access_to_the_files(tmp_path: Path) -> None:
    home = tmp_path / "root"
    inner = home / "relay"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for folder in (home, inner):
        folder.chmod(0o700)
    if not let_through(home, 1):
        pytest.skip("this file system has no access lists")
    Account(STRANGER, STRANGER).open_way(home.parents)
    Account(OURS, OURS).open_way([inner, home, *home.parents])
    assert reaches(OURS, inner / "file")
    assert not reaches(STRANGER, inner / "file")
    assert not stat.S_IMODE(home.stat().st_mode) & 0o007
    Account(STRANGER, STRANGER).open_way([inner, home])
    assert reaches(STRANGER, inner / "file")
    assert reaches(OURS, inner / "file"), "the earlier entry stays"
