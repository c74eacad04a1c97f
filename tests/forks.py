"""Starts of `python -m relay …` and of the tests' own workers that import nothing: a server process has imported all of
Relay, and forks.

Within `installed()`, `subprocess` and `asyncio` start them this way, on Linux. Each test process has a server, which
starts when it is first needed. What the server forks becomes a child of the test process, and has the arguments,
environment, directory and files of a process that was really started.

A process is really started if its environment has FRESH, or differs from the server's in a variable that Python,
coverage or OpenSSL reads at its start. `/proc/PID/environ` and `cmdline` are those of the server.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import inspect
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import coverage

RELAY = [sys.executable, "-m", "relay"]
FORKED = [RELAY] + [[*RELAY[:2], f"tests.integration.{name}_worker"] for name in ("job", "version")]
"""What the command lines begin with whose processes the server forks."""
FRESH = "TESTS_FRESH"
"""Set in the environment of a process that must really be started, or of all tests."""
READ_AT_START = ("PYTHON", "COVERAGE_", "LANG", "LC_", "LD_", "SSL_")
BYTECODE = "PYTHONDONTWRITEBYTECODE"
USUAL = {"shell": False, "preexec_fn": None, "pass_fds": (), "process_group": -1, "umask": -1} | dict.fromkeys(
    ("uid", "gid", "gids")
)
"""Options of `subprocess.Popen` that the server does not know, and their usual values."""
PR_SET_CHILD_SUBREAPER = 36
LONGEST = 1 << 20
"""The most bytes of a request."""
READY = b"ready"
"""What the server says first."""

Environment = dict[str, str]


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Makes `subprocess` and `asyncio` fork Relay's processes."""
    if sys.platform != "linux":
        yield
        return
    replaced = subprocess.Popen
    subprocess.Popen = Popen  # type: ignore[misc]
    Popen.server = Server()
    try:
        yield
    finally:
        subprocess.Popen = replaced  # type: ignore[misc]
        Popen.server.end()


@dataclass(frozen=True)
class Job:
    """What a process is started with."""

    module: str
    args: list[str]
    env: Environment
    cwd: str
    session: bool
    """Whether it starts a session."""
    files: list[int]
    """Its standard input, output and errors."""


class Server:
    """The server, as the test process sees it."""

    def __init__(self) -> None:
        self._env = {name: value for name, value in os.environ.items() if name != BYTECODE}
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def suits(self, env: Environment) -> bool:
        """Whether a process with this environment may be forked."""
        return FRESH not in env and read_at_start(env) == read_at_start(self._env)

    def fork(self, job: Job) -> int:
        """Starts a process and returns its id."""
        told = json.dumps({**asdict(job), "files": []}).encode()
        with self._lock:
            if self._socket is None:
                self._socket = self._start()
            with adopting_orphans():
                socket.send_fds(self._socket, [told], job.files)
                return int(self._socket.recv(LONGEST))

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forks", str(theirs.fileno())],
                cwd=Path(__file__).parents[1],
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        assert ours.recv(LONGEST) == READY
        return ours

    def end(self) -> None:
        """Ends the server, if it was started."""
        if self._socket:
            self._socket.close()
            self._process.wait()


class Popen(subprocess.Popen[Any]):
    """A process that the server forks if it is one of Relay's."""

    server: Server

    def _execute_child(self, *given: Any) -> None:
        asked = inspect.signature(super()._execute_child).bind(*given).arguments
        args = list(asked["args"]) if isinstance(asked["args"], list | tuple) else []
        env = dict(os.environ if asked["env"] is None else asked["env"])
        usual = all(asked[name] == value for name, value in USUAL.items())
        if args[:3] not in FORKED or not usual or not self.server.suits(env):
            super()._execute_child(*given)
            return
        files = enumerate((asked["p2cread"], asked["c2pwrite"], asked["errwrite"]))
        self.pid = self.server.fork(
            Job(
                module=args[2],
                args=list(map(os.fspath, args[3:])),
                env=env,
                cwd=os.path.abspath(asked["cwd"] or "."),
                session=asked["start_new_session"],
                files=[number if file == -1 else file for number, file in files],
            )
        )
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[name] for name in pipes))


def read_at_start(env: Environment) -> Environment:
    """Returns the variables that matter only when Python starts, except whether it keeps bytecode. Empty ones count as
    missing."""
    read = {name: value for name, value in env.items() if value and name.startswith(READ_AT_START)}
    read.pop(BYTECODE, None)
    return read


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Makes a process whose parent ends a child of this one, if it descends from it."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def load() -> None:
    """Imports all of Relay."""
    import relay

    for module in pkgutil.walk_packages(relay.__path__, "relay."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    warm()
    if measured := coverage.Coverage.current():
        measured.stop()
        measured.save()
    inspect.stack()  # as coverage does at its start; the first time takes 0.1 s
    gc.freeze()
    assert len(os.listdir("/proc/self/task")) == 1, "threads do not survive a fork"


def warm() -> None:
    """Makes what each process would make for itself: what decodes the database's results, and the certificates."""
    from relay.clients.connections import load_certificates
    from relay.core.frozen import adapter_of
    from relay.memory.calls import base
    from relay.memory.claims import ClaimResult
    from relay.memory.store import Store

    load_certificates()
    adapter_of(ClaimResult)
    for method in (method for kind in Store.__mro__ for method in vars(kind).values()):
        if declared := getattr(method, "__wrapped__", None):
            base._decoder(declared)
            result = get_type_hints(declared, include_extras=True)["return"]
            for row in get_args(result) if NoneType in get_args(result) else (result,):
                adapter_of(row)


def serve(tests: socket.socket) -> Job | None:
    """Forks a process for each request. Returns the request in that process, and None when the test process ends."""
    tests.send(READY)
    while True:
        request, files, *_ = socket.recv_fds(tests, LONGEST, 3)
        if not request:
            return None
        if pid := fork_orphan():
            tests.send(str(pid).encode())
            for file in files:
                os.close(file)
        else:
            return Job(**{**json.loads(request), "files": files})


def fork_orphan() -> int:
    """Forks a process whose parent has ended. Returns its id, and 0 in it."""
    reads, writes = os.pipe()
    if parent := os.fork():
        os.close(writes)
        os.waitpid(parent, 0)
        with open(reads, "rb") as pipe:
            return int(pipe.read())
    if pid := os.fork():
        os.write(writes, str(pid).encode())
        os._exit(0)
    os.close(reads)
    os.close(writes)
    return 0


def run(job: Job) -> None:
    """Runs the module as Python would after a start."""
    for number, file in enumerate(job.files):
        os.dup2(file, number)
        os.close(file)
    if job.session:
        os.setsid()
    os.chdir(job.cwd)
    os.environ.clear()
    os.environ.update(job.env)
    time.tzset()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        new = open(number, "w" if number else "r", encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
    coverage.process_startup(force=True)
    sys.path[0] = job.cwd
    sys.argv = [job.module, *job.args]
    try:
        runpy.run_module(job.module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            leave(end.code or 0)
        raise
    leave(0)


def leave(code: int) -> None:
    """Ends this process as Python would, but leaves its memory, which it shares with the server, as it is: to take it
    apart would copy all of it, which takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    with contextlib.suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)  # Python tells what it could not write


def main() -> None:
    """Runs the server, and then, in a process that it forked, the module."""
    load()
    with contextlib.suppress(KeyboardInterrupt), socket.socket(fileno=int(sys.argv[1])) as tests:
        job = serve(tests)
    if job:
        run(job)


if __name__ == "__main__":
    main()
