"""The database that needs nothing installed: PostgreSQL from a wheel, shared by all Relay processes of a directory.

Three locks in the data directory decide; the kernel releases each when its holder dies, by `kill -9` too:
`start.lock` is held while the server is started or stopped; `users.lock` is shared by all who use the server, so the
last to leave is the one who can have it alone, and stops it; `server.lock` is inherited by the server's own processes,
so it is free when none of them lives, whatever process ids say (one may be in use again, or mean another process in
another container: two servers on one directory would destroy it).
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from relay.clients.embedded.account import make_data_dir, open_private
from relay.clients.embedded.cluster import Cluster
from relay.core.errors import DatabaseError, DatabaseUnavailable, SettingsError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PATIENCE = 60.0
"""Seconds to wait for a server that is starting, replaying its log or shutting down."""
FAST_STOP = 30
"""Seconds for a clean shutdown before an immediate one (after which the next start replays the log)."""


class EmbeddedPostgres:
    """One user of the server under `data_dir`. Blocking work happens in a thread; the loop is never held up."""

    def __init__(self, data_dir: Path) -> None:
        """Touch nothing yet. `data_dir` is RELAY_DATA_DIR. Raises DatabaseError without the wheel."""
        self._data_dir = data_dir.expanduser().resolve()
        self._cluster = Cluster(self._data_dir)
        self._users: _FileLock | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    async def start(self) -> str:
        """Make sure that the server runs and return its URL, for the role `relay`, who owns the database `relay`.

        Start it, join it, or, called again while in use, bring it back if it died: the URL stays the same (not on
        Windows). A first start takes seconds, a server that replays its log up to `PATIENCE` seconds. A cancelled
        start goes on in its thread; `stop` still undoes it.
        Raises DatabaseError (needs a person) or DatabaseUnavailable (may be tried again).
        """
        return await asyncio.to_thread(self._start)

    async def stop(self) -> None:
        """Leave; the last user stops the server. Close your connections first. Harmless without a start."""
        await asyncio.to_thread(self._stop)

    @property
    def superuser_url(self) -> str:
        """The URL of the superuser, for tests and emergencies; Relay itself never needs it. Known after a start."""
        return self._cluster.url("postgres")

    def _start(self) -> str:
        with self._one_at_a_time:
            joined = self._users
            try:
                if joined and self._cluster.accepts():
                    return self._cluster.url()
                make_data_dir(self._data_dir)
                with self._transition():
                    self._users = joined or self._join()
                    self._ensure_served()
                    return self._cluster.url()
            except (DatabaseError, SettingsError, OSError) as error:
                if not joined and self._users:
                    self._users.close()
                    self._users = None
                if isinstance(error, OSError):
                    raise self._explain(error) from error
                if joined and isinstance(error, SettingsError):  # it could be written in before
                    raise DatabaseUnavailable(str(error)) from error
                raise

    def _stop(self) -> None:
        with self._one_at_a_time:
            if self._users is None:
                return
            try:
                with self._transition():
                    if self._users.acquire():
                        self._shut_down()
            except OSError as error:
                raise self._explain(error) from error
            finally:
                self._users.close()
                self._users = None
                if self._process is not None and self._process.poll() is None:
                    self._process.returncode = 0  # it serves others: spare us the warning that it is still running
                self._process = None

    @contextmanager
    def _transition(self) -> Iterator[None]:
        """Hold `start.lock`, waiting while another process starts or stops the server."""
        lock = _FileLock(self._data_dir / "start.lock")
        try:
            deadline = time.monotonic() + PATIENCE + FAST_STOP
            while not lock.acquire():
                if time.monotonic() > deadline:
                    raise DatabaseUnavailable(
                        f"Another Relay process has been starting or stopping the database in {self._data_dir} for "
                        f"more than a minute. See {self._cluster.log}"
                    )
                time.sleep(0.01)
            yield
        finally:
            lock.close()

    def _join(self) -> _FileLock:
        users = _FileLock(self._data_dir / "users.lock")
        if not users.acquire(shared=True):  # who has it alone holds start.lock as well, as we do now
            users.close()
            raise DatabaseUnavailable(f"{self._data_dir / 'users.lock'} is locked by another program.")
        return users

    def _ensure_served(self) -> None:
        """Return once the server takes our connections; start it if nothing of an earlier one is alive."""
        deadline = time.monotonic() + PATIENCE
        log_size: int | None = None
        while not (self._cluster.exists and self._cluster.accepts()):
            if self._all_gone():
                if log_size is not None:  # we launched one, and it ended
                    raise self._cluster.explain(self._log_since(log_size))
                log_size = self._cluster.log.stat().st_size if self._cluster.log.exists() else 0
                self._launch()
                deadline = time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(
                    f"The database in {self._data_dir} is in use (perhaps by a container or another user) or still "
                    f"recovering, and does not answer. Try again; its log is {self._cluster.log}"
                )
            time.sleep(0.005)

    def _all_gone(self) -> bool:
        """Tell whether no process of a server is alive, of one started by hand (without our lock) either."""
        if self._process is not None:
            self._process.poll()  # reaps it
        if sys.platform == "win32":
            return not self._cluster.is_served()
        lock = _FileLock(self._data_dir / "server.lock")
        try:
            return lock.acquire() and not self._cluster.is_served()
        finally:
            lock.close()

    def _launch(self) -> None:
        lock = _FileLock(self._data_dir / "server.lock")
        try:
            if not lock.acquire():
                raise DatabaseUnavailable(f"The database in {self._data_dir} is being started by another program.")
            self._cluster.prepare()
            if not self._cluster.exists:
                self._cluster.set_up(lock.descriptor)
            self._process = self._cluster.launch(lock.descriptor)
        finally:
            lock.close()  # not unlocked: it stays locked for whom inherited it

    def _shut_down(self) -> None:
        """Stop the server, in a way that the next start must repair if need be, and see its processes gone."""
        if not self._cluster.is_served():  # dead, or in another container, whose process ids mean nothing here
            return
        self._cluster.prepare()
        if not self._cluster.shut_down("fast", FAST_STOP):
            self._cluster.shut_down("immediate", 5)
        deadline = time.monotonic() + 5
        while not self._all_gone() and time.monotonic() < deadline:
            time.sleep(0.005)

    def _log_since(self, offset: int) -> str:
        with suppress(OSError), self._cluster.log.open("rb") as log:
            log.seek(offset if offset <= os.fstat(log.fileno()).st_size else 0)  # else: set aside meanwhile
            return log.read().decode(errors="replace")
        return ""

    def _explain(self, error: OSError) -> DatabaseError:
        place = error.filename or self._data_dir
        if isinstance(error, PermissionError):
            return DatabaseError(
                f"Relay may not use {place}. Run it as the user who owns {self._data_dir}, or give that user's files "
                "to this one with chown."
            )
        return DatabaseUnavailable(f"The database cannot use {place}: {error.strerror}. Its log: {self._cluster.log}")


class _FileLock:
    """A lock on a file, which ends with the last process that has the file open."""

    def __init__(self, path: Path) -> None:
        self.descriptor = open_private(path)
        self._byte: int | None = None

    def acquire(self, *, shared: bool = False) -> bool:
        """Lock, or turn a shared lock into one of our own, and tell whether it worked. If not, nothing is locked."""
        if sys.platform == "win32":  # it has no shared locks: each user locks a byte, and the last can lock them all
            if self._byte is not None:
                self._lock_bytes(msvcrt.LK_UNLCK, self._byte, 1)
            self._byte = secrets.randbelow(2**31 - 1) if shared else None
            return self._lock_bytes(msvcrt.LK_NBLCK, self._byte or 0, 1 if shared else 2**31 - 1)
        try:
            fcntl.flock(self.descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    if sys.platform == "win32":

        def _lock_bytes(self, mode: int, start: int, length: int) -> bool:
            os.lseek(self.descriptor, start, os.SEEK_SET)
            try:
                msvcrt.locking(self.descriptor, mode, length)
            except OSError:
                return False
            return True

    def close(self) -> None:
        """Let go. What inherited the descriptor keeps the lock."""
        os.close(self.descriptor)
