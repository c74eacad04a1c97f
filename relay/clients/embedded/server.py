"""The database that needs nothing installed: PostgreSQL from a wheel, shared by all Relay processes of a directory.

Three locks in the data directory decide; the kernel releases each when its holder dies, by `kill -9` too:
`start.lock` is held while the server is started or stopped; `users.lock` is shared by all who use the server, so the
last one to leave can lock it alone, and stops the server; `server.lock` is inherited by the server's own processes, so
it is free once all of them are dead, whatever process ids say. (An id may be reused, or mean another process in another
container, and two servers on one directory would destroy it.)
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
"""How many seconds to wait for a server that is starting, replaying its log or shutting down."""
FAST_STOP = 30
"""How many seconds a clean shutdown may take before an immediate one (after which the next start replays the log)."""
LEAVING = 2.0
"""How many seconds to wait for another process's start before leaving the server to it."""


class EmbeddedPostgres:
    """One user of the server under `data_dir`. Blocking work runs in a thread, so the event loop stays free."""

    def __init__(self, data_dir: Path) -> None:
        """Touches nothing yet. `data_dir` is RELAY_DATA_DIR. Raises DatabaseError without the wheel."""
        self._data_dir = data_dir.expanduser().resolve()
        self._cluster = Cluster(self._data_dir)
        self._users: _FileLock | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()
        self._leaving = False

    async def start(self) -> str:
        """Makes sure that the server runs and returns its URL, for the role `relay`, which owns the database `relay`.

        Starts it, joins it, or, if called again while in use, restarts it if it died: the URL stays the same (not on
        Windows). A first start takes seconds; a server that replays its log, up to `PATIENCE` seconds. A cancelled
        start continues in its thread; `stop` still undoes it. Raises DatabaseError (needs a person) or
        DatabaseUnavailable (can be retried).
        """
        return await asyncio.to_thread(self._start)

    async def stop(self) -> None:
        """Leaves; the last user stops the server. Close your connections first. Safe to call without a start. Ends a
        start or restart that waits for another process."""
        self._leaving = True
        try:
            await asyncio.to_thread(self._stop)
        finally:
            self._leaving = False

    @property
    def superuser_url(self) -> str:
        """Returns the superuser's URL, for tests and emergencies; Relay itself never needs it. Known after a start."""
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
                    try:
                        self._ensure_served()
                    except (DatabaseError, OSError):
                        if not joined:
                            self._abandon(self._users)
                        raise
                    return self._cluster.url()
            except (DatabaseError, SettingsError, OSError) as error:
                if not joined and self._users:
                    self._users.close()
                    self._users = None
                if isinstance(error, OSError):
                    raise self._explain(error) from error
                if joined and isinstance(error, SettingsError):  # it was writable before
                    raise DatabaseUnavailable(str(error)) from error
                raise

    def _stop(self) -> None:
        with self._one_at_a_time:
            if self._users is None:
                return
            try:
                with self._transition(leaving=True):
                    if self._users.acquire():
                        self._shut_down()
            except _Occupied:
                pass  # another process is starting the server; it stops it when it leaves
            except OSError as error:
                raise self._explain(error) from error
            finally:
                self._users.close()
                self._users = None
                if self._process is not None and self._process.poll() is None:
                    self._process.returncode = 0  # others use it: don't log that it keeps running
                self._process = None

    @contextmanager
    def _transition(self, leaving: bool = False) -> Iterator[None]:
        """Holds `start.lock`, waiting while another process starts or stops the server."""
        lock = _FileLock(self._data_dir / "start.lock")
        try:
            deadline = time.monotonic() + (LEAVING if leaving else PATIENCE + FAST_STOP)
            while not lock.acquire():
                if time.monotonic() > deadline or (self._leaving and not leaving):
                    raise _Occupied(
                        f"Another Relay process has been starting or stopping the database in {self._data_dir} for "
                        f"more than a minute. See {self._cluster.log}"
                    )
                time.sleep(0.01)
            yield
        finally:
            lock.close()

    def _join(self) -> _FileLock:
        users = _FileLock(self._data_dir / "users.lock")
        if not users.acquire(shared=True):  # a single user also holds start.lock, as we do now
            users.close()
            raise DatabaseUnavailable(f"{self._data_dir / 'users.lock'} is locked by another program.")
        return users

    def _ensure_served(self) -> None:
        """Returns once the server accepts our connections; starts it if no earlier one is alive."""
        deadline = time.monotonic() + PATIENCE
        log_size: int | None = None
        while not (self._cluster.exists and self._cluster.accepts()):
            if self._is_gone():
                if log_size is not None:  # we started one, and it ended
                    raise self._cluster.explain(self._log_since(log_size))
                log_size = self._cluster.log.stat().st_size if self._cluster.log.exists() else 0
                self._launch()
                deadline = time.monotonic() + PATIENCE
            if time.monotonic() > deadline or (self._leaving and log_size is None):
                raise DatabaseUnavailable(
                    f"The database in {self._data_dir} is in use (perhaps by a container or another user) or still "
                    f"recovering, and does not answer. Try again; its log is {self._cluster.log}"
                )
            time.sleep(0.005)

    def _is_gone(self) -> bool:
        """Returns whether no server process is alive, including one started by hand (without our lock)."""
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
            lock.close()  # not unlocked: the processes that inherited it keep the lock

    def _abandon(self, users: _FileLock) -> None:
        """Stops a server that we could not use and nobody else uses. One that recovers goes on: it would otherwise
        begin again at every attempt."""
        if users.acquire() and not self._cluster.is_starting():
            self._shut_down()

    def _shut_down(self) -> None:
        """Stops the server, even if the next start must recover, and waits until its processes are gone."""
        if not self._cluster.is_served():  # dead, or in another container, whose process ids mean nothing here
            return
        self._cluster.prepare()
        if not self._cluster.shut_down("fast", FAST_STOP):
            self._cluster.shut_down("immediate", 5)
        deadline = time.monotonic() + 5
        while not self._is_gone() and time.monotonic() < deadline:
            time.sleep(0.005)

    def _log_since(self, offset: int) -> str:
        with suppress(OSError), self._cluster.log.open("rb") as log:
            log.seek(offset if offset <= os.fstat(log.fileno()).st_size else 0)  # otherwise it was renamed meanwhile
            return log.read().decode(errors="replace")
        return ""

    def _explain(self, error: OSError) -> DatabaseError:
        place = error.filename or self._data_dir
        if isinstance(error, PermissionError):
            return DatabaseError(
                f"Relay has no access to {place}. Run it as the owner of {self._data_dir}, or change the owner of "
                "those files with chown."
            )
        return DatabaseUnavailable(f"The database cannot use {place}: {error.strerror}. Its log: {self._cluster.log}")


class _Occupied(DatabaseUnavailable):
    """Another process is starting or stopping the server."""


class _FileLock:
    """A file lock that ends with the last process that has the file open."""

    def __init__(self, path: Path) -> None:
        self.descriptor = open_private(path)
        self._byte: int | None = None

    def acquire(self, *, shared: bool = False) -> bool:
        """Locks, or upgrades a shared lock, and returns whether it worked. If not, nothing is locked."""
        if (
            sys.platform == "win32"
        ):  # Windows has no shared locks: each user locks one byte, and the last user can lock them all
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
        """Closes the file. Processes that inherited the descriptor keep the lock."""
        os.close(self.descriptor)
