"""Tests the real embedded server: who starts it, who stops it, and what it survives."""
# ruff: noqa: ASYNC220, ASYNC240  (these tests have the event loop to themselves)

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

import relay
from relay.clients.embedded import server as embedded
from relay.clients.embedded.account import make_data_dir, make_directory
from relay.clients.embedded.passage import let_through
from relay.clients.embedded.server import EmbeddedPostgres
from relay.core.errors import DatabaseError, DatabaseUnavailable, SettingsError
from tests.sampled import sampled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

AS_ROOT = os.geteuid() == 0
ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from relay.clients.embedded.passage import let_through
from relay.clients.embedded.server import EmbeddedPostgres

async def main():
    server = EmbeddedPostgres(Path(sys.argv[1]))
    print(await server.start(), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await server.stop()

asyncio.run(main())
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data directory that doesn't exist yet. None of its servers may outlive the test."""
    path = tmp_path / "data"
    yield path
    left = _processes_in(tmp_path)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert not left, "a server outlived the test"


def _processes_in(directory: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if Path(os.readlink(entry / "cwd")).is_relative_to(directory):
                    found.append(int(entry.name))
    return found


def _runs_as_root(pid: int) -> bool:
    """Returns whether a process runs as root; False if it has ended, as short-lived workers of a server do."""
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}").stat().st_uid == 0
    return False


def _another_process(data_dir: Path, *, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", ANOTHER_PROCESS, str(data_dir)],
        env=os.environ | {"PYTHONPATH": str(Path(relay.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _leave(process: subprocess.Popen[str]) -> None:
    assert process.communicate("\n", timeout=30)
    assert process.returncode == 0


def _postmaster(data_dir: Path) -> int:
    return int((data_dir / "postgres/postmaster.pid").read_text().split()[0])


def _alive(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition was never met"
        time.sleep(0.005)


def _run(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql)  # type: ignore[call-overload]
        return cursor.fetchall() if cursor.description else []


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


async def test_data_survives_a_restart(data_dir: Path) -> None:
    first = EmbeddedPostgres(data_dir)
    url = await first.start()
    _run(url, "CREATE TABLE kept AS SELECT 42 AS number")
    await first.stop()
    assert not _processes_in(data_dir)

    second = EmbeddedPostgres(data_dir)
    assert await second.start() == url
    assert _run(url, "SELECT number FROM kept") == [(42,)]
    await second.stop()
    await second.stop()  # harmless


async def test_the_relay_role_is_no_superuser_and_can_use_its_extensions(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    role = _run(url, "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user")
    assert role == [("relay", False, False, False)]
    extensions = _run(url, "SELECT extname FROM pg_extension WHERE extnamespace = 'extensions'::regnamespace")
    assert {name for (name,) in extensions} == {"vector", "pg_trgm", "btree_gin"}
    _run(
        url, "CREATE SCHEMA relay; CREATE TABLE relay.t (v vector(2)); CREATE FUNCTION public.f() RETURNS int RETURN 1"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _run(url, "COPY relay.t TO PROGRAM 'cat'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _run(url, "CREATE TABLE extensions.intruder ()")
    assert _run(server.superuser_url, "SELECT current_user, current_database()") == [("postgres", "relay")]
    await server.stop()


async def test_non_ascii_letters_are_recognised(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    assert _run(url, "SELECT lower('ПРИВЕТ'), similarity('привет', 'приветик') > 0.5") == [("привет", True)]
    await server.stop()


async def test_nobody_can_connect_without_the_password(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    host = data_dir / "postgres"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(host=str(host), user="relay", dbname="relay", password="wrong")
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(host=str(host), user="postgres", dbname="postgres", passfile="/dev/null")
    rules = _run(server.superuser_url, "SELECT DISTINCT auth_method FROM pg_hba_file_rules")
    assert rules == [("scram-sha-256",)]
    assert _run(url, "SHOW listen_addresses") == [("",)]
    assert "password" not in (data_dir / "postgres.log").read_text().lower().replace("password authentication", "")
    await server.stop()


async def test_settings_for_durable_commits_are_on(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
        assert _run(url, f"SHOW {setting}") == [("on",)]
    await server.stop()


async def test_files_are_readable_only_by_their_owner(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    assert _mode(data_dir) == (0o711 if AS_ROOT else 0o700)
    cluster = data_dir / "postgres"
    assert _mode(cluster) == 0o700
    assert _mode(cluster / ".s.PGSQL.5432") == 0o700
    for file in (*data_dir.glob("*.lock"), data_dir / "postgres.log", cluster / "relay.json", cluster / "pg_hba.conf"):
        assert _mode(file) == 0o600, file
    assert {path.name for path in data_dir.iterdir()} == {
        *("postgres", "postgres.log", "start.lock", "users.lock", "server.lock")
    }
    assert _processes_in(data_dir)
    assert not [pid for pid in _processes_in(data_dir) if _runs_as_root(pid)]
    await server.stop()


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server as somebody else")
async def test_root_opens_only_the_path_to_the_cluster(tmp_path: Path, data_dir: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    server = EmbeddedPostgres(closed / "data")
    await server.start()
    assert _mode(closed) & 0o007 == (0 if let_through(tmp_path, 54321) else 1), (
        "the folder may be opened to everyone only without access lists"
    )
    await server.stop()


async def test_the_last_process_to_leave_stops_the_server(data_dir: Path) -> None:
    ours = EmbeddedPostgres(data_dir)
    url = await ours.start()
    pid = _postmaster(data_dir)
    theirs = _another_process(data_dir)
    assert _first_line(theirs) == url
    await ours.stop()
    assert _alive(pid)
    assert _run(url, "SELECT 1") == [(1,)]
    _leave(theirs)
    assert not _alive(pid)


@pytest.mark.slow("test_the_last_process_to_leave_stops_the_server, and the test of a killed process")
async def test_several_processes_can_start_and_stop_at_once(data_dir: Path) -> None:
    users = [EmbeddedPostgres(data_dir) for _ in range(6)]
    for _ in range(3):
        urls = await asyncio.gather(*(user.start() for user in users))
        assert len(set(urls)) == 1
        assert len(_run(urls[0], "SELECT 1")) == 1
        await asyncio.gather(*(user.stop() for user in users))
        assert not _processes_in(data_dir)


async def test_the_server_of_a_killed_process_is_joined_and_stopped_by_the_next(data_dir: Path) -> None:
    theirs = _another_process(data_dir)
    url = _first_line(theirs)
    pid = _postmaster(data_dir)
    theirs.kill()
    theirs.communicate()
    assert _alive(pid)

    ours = EmbeddedPostgres(data_dir)
    began = time.monotonic()
    assert await ours.start() == url
    assert time.monotonic() - began < 0.5
    assert _postmaster(data_dir) == pid
    await ours.stop()
    assert not _alive(pid)


@pytest.mark.slow("test_the_last_process_to_leave_stops_the_server, and the test of a killed process")
async def test_a_killed_process_does_not_keep_the_last_one_from_stopping_the_server(data_dir: Path) -> None:
    ours = EmbeddedPostgres(data_dir)
    await ours.start()
    pid = _postmaster(data_dir)
    theirs = _another_process(data_dir)
    _first_line(theirs)
    theirs.kill()
    theirs.communicate()
    assert _alive(pid)
    await ours.stop()
    assert not _alive(pid)


@pytest.mark.parametrize("victim", ["postmaster", "all"])
async def test_restarting_a_killed_server_keeps_all_committed_data(data_dir: Path, victim: str) -> None:
    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    _run(url, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number")
    killed = _postmaster(data_dir)
    for pid in [killed] if victim == "postmaster" else _processes_in(data_dir):
        with contextlib.suppress(ProcessLookupError):  # a process may end because another was killed
            os.kill(pid, signal.SIGKILL)
    assert await server.start() == url
    assert _postmaster(data_dir) != killed
    assert _run(url, "SELECT count(*) FROM kept") == [(1000,)]
    await server.stop()


async def test_a_temporarily_unwritable_directory_is_not_reported_as_a_wrong_setting(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens after a disk error. The users of the server wait and then go on."""

    def unwritable(_: Path) -> None:
        raise SettingsError("RELAY_DATA_DIR: Relay cannot write there.")

    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    os.kill(_postmaster(data_dir), signal.SIGKILL)
    with monkeypatch.context() as broken:
        broken.setattr(embedded, "make_data_dir", unwritable)
        with pytest.raises(DatabaseUnavailable, match="cannot write there"):
            await server.start()
    assert await server.start() == url
    await server.stop()


async def test_a_reused_process_id_does_not_block_the_start(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    cluster = data_dir / "postgres"
    owner = cluster.stat()
    files = {path: path.read_text() for path in (cluster / "postmaster.pid", cluster / ".s.PGSQL.5432.lock")}
    await server.stop()
    unrelated = subprocess.Popen(["sleep", "60"], user=owner.st_uid, group=owner.st_gid, extra_groups=[], cwd="/")
    try:
        for path, text in files.items():
            path.write_text(text.replace(text.split()[0], str(unrelated.pid), 1))
            os.chown(path, owner.st_uid, owner.st_gid)
        url = await server.start()
        assert _run(url, "SELECT 1") == [(1,)]
        await server.stop()
        assert unrelated.poll() is None
    finally:
        unrelated.kill()
        unrelated.wait()


@pytest.mark.parametrize(
    "reached", sampled(["password", "cluster/PG_VERSION", "cluster/base/5", "cluster/relay.json"], 4, 2)
)
async def test_an_interrupted_setup_is_repeated(data_dir: Path, reached: str) -> None:
    theirs = _another_process(data_dir)
    _eventually((data_dir / "postgres.new" / reached).exists)
    theirs.kill()
    theirs.communicate()
    assert not (data_dir / "postgres").exists()
    server = EmbeddedPostgres(data_dir)
    assert _run(await server.start(), "SELECT current_user") == [("relay",)]
    assert not (data_dir / "postgres.new").exists()
    await server.stop()


async def test_a_cancelled_start_can_still_be_stopped(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(server.start(), 0.2)
    await server.stop()
    assert not _processes_in(data_dir)


async def test_a_start_that_waits_for_another_processs_server_can_be_stopped(data_dir: Path) -> None:
    theirs, ours = EmbeddedPostgres(data_dir), EmbeddedPostgres(data_dir)
    await theirs.start()
    os.kill(_postmaster(data_dir), signal.SIGSTOP)
    try:
        starting = asyncio.create_task(ours.start())
        await asyncio.sleep(0.2)
        starting.cancel()
        async with asyncio.timeout(20):
            await ours.stop()
    finally:
        os.kill(_postmaster(data_dir), signal.SIGCONT)
        await theirs.stop()


async def test_a_start_that_waits_for_another_processs_start_can_be_stopped(data_dir: Path) -> None:
    theirs, ours = EmbeddedPostgres(data_dir), EmbeddedPostgres(data_dir)
    make_data_dir(data_dir)
    with theirs._transition():
        starting = asyncio.create_task(ours.start())
        await asyncio.sleep(0.2)
        starting.cancel()
        async with asyncio.timeout(5):
            await ours.stop()
    assert not (data_dir / "postgres").exists()


async def test_a_restart_that_waits_for_another_processs_start_can_be_stopped(data_dir: Path) -> None:
    theirs, ours = EmbeddedPostgres(data_dir), EmbeddedPostgres(data_dir)
    await ours.start()
    await theirs.start()
    with theirs._transition():
        os.kill(_postmaster(data_dir), signal.SIGKILL)
        restarting = asyncio.create_task(ours.start())
        await asyncio.sleep(0.2)
        restarting.cancel()
        async with asyncio.timeout(10):
            await ours.stop()
    await theirs.start()
    await theirs.stop()
    assert not _processes_in(data_dir)


async def test_a_start_that_gives_up_stops_a_server_that_its_last_user_has_left(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = EmbeddedPostgres(data_dir), EmbeddedPostgres(data_dir)
    await theirs.start()
    monkeypatch.setattr(embedded, "PATIENCE", 1.5)
    monkeypatch.setattr(embedded, "LEAVING", 0.1)
    monkeypatch.setattr(ours._cluster, "accepts", lambda: False)
    starting = asyncio.create_task(ours.start())
    await asyncio.sleep(0.2)
    await theirs.stop()
    assert _processes_in(data_dir)
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        await starting
    assert not _processes_in(data_dir)


async def test_a_start_that_gives_up_lets_a_server_recover(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt would otherwise begin again."""
    server = EmbeddedPostgres(data_dir)
    with monkeypatch.context() as slow:
        slow.setattr(embedded, "PATIENCE", 0.2)
        slow.setattr(server._cluster, "accepts", lambda: False)
        slow.setattr(server._cluster, "is_starting", lambda: True)
        with pytest.raises(DatabaseUnavailable, match="still recovering"):
            await server.start()
    recovering = _postmaster(data_dir)
    await server.start()
    assert _postmaster(data_dir) == recovering
    await server.stop()


async def test_a_shutdown_that_fails_is_an_error(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise DatabaseUnavailable("It can't be stopped.")

    server = EmbeddedPostgres(data_dir)
    await server.start()
    with monkeypatch.context() as broken:
        broken.setattr(server, "_shut_down", refused)
        with pytest.raises(DatabaseUnavailable, match="can't be stopped"):
            await server.stop()
    await server.start()
    await server.stop()


@pytest.mark.parametrize("name", sampled(["long" * 30, "with, a comma", 'it\'s "quoted" $HOME\\ 50% ünïcode'], 3, 2))
async def test_any_directory_name_works(data_dir: Path, name: str) -> None:
    server = EmbeddedPostgres(data_dir / name)
    url = await server.start()
    assert _run(url, "SELECT 1") == [(1,)]
    sockets = Path(str(_run(server.superuser_url, "SHOW unix_socket_directories")[0][0]))
    assert _mode(sockets) == 0o700
    assert sockets.stat().st_uid == (data_dir / name / "postgres").stat().st_uid
    os.kill(_postmaster(data_dir / name), signal.SIGKILL)
    assert await server.start() == url
    await server.stop()
    assert sockets == data_dir / name / "postgres" or not sockets.exists()


async def test_a_socket_directory_of_another_user_is_refused(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir / ("long" * 30))
    await server.start()
    sockets = Path(str(_run(server.superuser_url, "SHOW unix_socket_directories")[0][0]))
    await server.stop()
    sockets.mkdir(mode=0o755)
    try:
        with pytest.raises(DatabaseError, match="belongs to another user"):
            await server.start()
    finally:
        sockets.rmdir()


async def test_data_of_another_postgres_version_is_refused_with_an_explanation(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    await server.stop()
    version = data_dir / "postgres/PG_VERSION"
    version.write_text("17\n")
    with pytest.raises(DatabaseError, match=r"another version of PostgreSQL.*version 17.*relay restore`"):
        await server.start()
    version.write_text("18\n")
    await server.start()
    await server.stop()


async def test_an_error_names_the_log(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    await server.stop()
    (data_dir / "postgres/global/pg_control").rename(data_dir / "pg_control")
    with pytest.raises(DatabaseError, match=r"postgres\.log"):
        await server.start()


async def test_an_unwritable_directory_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SettingsError, match=f"RELAY_DATA_DIR.*{tmp_path}"):
        await EmbeddedPostgres(tmp_path / "file" / "data").start()


async def test_a_full_disk_is_not_reported_as_a_wrong_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a wrong setting, systemd doesn't start Relay again; after this, it does."""

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(DatabaseUnavailable, match=f"The disk of {tmp_path} is full"):
        make_directory(tmp_path, "RELAY_BACKUP_DIR")


async def test_a_long_log_is_rotated(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o711)
    log = data_dir / "postgres.log"
    log.write_bytes(b"x" * (11 * 1024 * 1024))
    server = EmbeddedPostgres(data_dir)
    await server.start()
    assert log.stat().st_size < 10_000
    assert (data_dir / "postgres.log.1").exists()
    await server.stop()


async def test_ctrl_c_does_not_reach_the_server(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    assert os.getsid(_postmaster(data_dir)) != os.getsid(0)
    await server.stop()


async def test_the_server_does_not_inherit_secrets(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("PGPORT", "1")
    server = EmbeddedPostgres(data_dir)
    await server.start()
    environment = Path(f"/proc/{_postmaster(data_dir)}/environ").read_text()
    assert "sk-secret" not in environment
    assert "PGPORT" not in environment
    monkeypatch.delenv("PGPORT")
    await server.stop()


@pytest.mark.skipif(not AS_ROOT or not shutil.which("unshare"), reason="makes a container's namespaces")
async def test_a_server_in_another_container_is_joined_or_left_running(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = _another_process(data_dir, prefix=("unshare", "--pid", "--ipc", "--fork", "--mount-proc"))
    url = _first_line(theirs)
    assert not Path(f"/proc/{_postmaster(data_dir)}/cwd").resolve().is_relative_to(data_dir)
    ours = EmbeddedPostgres(data_dir)
    assert await ours.start() == url
    await ours.stop()

    hidden = data_dir / "hidden"
    (data_dir / "postgres/.s.PGSQL.5432").rename(hidden)
    monkeypatch.setattr(embedded, "PATIENCE", 0.5)
    with pytest.raises(DatabaseUnavailable, match="in use"):
        await ours.start()
    hidden.rename(data_dir / "postgres/.s.PGSQL.5432")
    assert _run(url, "SELECT 1") == [(1,)]
    _leave(theirs)


@pytest.mark.slow("test_the_last_process_to_leave_stops_the_server, and the test of a killed process")
@pytest.mark.skipif(not AS_ROOT or not shutil.which("setpriv"), reason="becomes another user")
async def test_the_server_works_as_an_ordinary_user_and_then_as_root(data_dir: Path) -> None:
    data_dir.parent.chmod(0o711)
    data_dir.parent.parent.chmod(0o711)
    data_dir.parent.parent.parent.chmod(0o711)
    data_dir.mkdir(mode=0o700)
    user = pwd.getpwnam("nobody").pw_uid
    os.chown(data_dir, user, user)
    # The capability lets the interpreter read its library in root's home. PostgreSQL doesn't treat that as root.
    capability = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    become = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *capability)

    theirs = _another_process(data_dir, prefix=become)
    url = _first_line(theirs)
    assert Path(f"/proc/{_postmaster(data_dir)}").stat().st_uid == user
    assert _mode(data_dir) == 0o700
    _leave(theirs)

    root = EmbeddedPostgres(data_dir)
    assert await root.start() == url
    assert Path(f"/proc/{_postmaster(data_dir)}").stat().st_uid == user
    await root.stop()
    assert {path.stat().st_uid for path in data_dir.iterdir()} == {user}

    theirs = _another_process(data_dir, prefix=become)
    assert _first_line(theirs) == url
    _leave(theirs)
