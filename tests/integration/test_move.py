"""Tests `relay move` between real databases: nothing is lost, a killed move goes on, no data is overwritten."""

# ruff: noqa: ASYNC220  (these tests have the event loop to themselves, and table names come from the catalogue)

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

import relay
from relay.archive.move_rows import MoveState
from relay.archive.transfer import MoveDiffers, MoveRefused, Transfer
from relay.clients.embedded.instance import in_use
from relay.clients.embedded.server import EmbeddedPostgres
from relay.clients.postgres.database import Postgres
from relay.core.errors import DatabaseError, DatabaseUnavailable, SchemaError, SettingsError
from relay.core.settings import Settings
from relay.memory.calls.base import decode_row
from relay.runtime.storage import place
from relay.surfaces.cli.move import advice, move, target_settings
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.sides import ROWS, STAYS, Looking, Side
from tests.leaks import searched
from tests.standins.supabase import SupabaseProject

ROOT = Path(relay.__file__).parents[1]
Json = dict[str, Any]


class Lossy:
    """A database that sometimes fails, before a call arrives or after it was done."""

    def __init__(self, database: Postgres) -> None:
        self.database = database
        self.calls = 0
        self.slowest: tuple[float, str] = (0.0, "")

    async def call(self, function: str, **arguments: Any) -> Any:
        self.calls += 1
        if self.calls % 5 == 1:
            raise DatabaseUnavailable
        answer = await self.database.call(function, **arguments)
        if self.calls % 5 == 3:
            raise DatabaseUnavailable
        return answer


@pytest.fixture(scope="module")
def full() -> dict[str, str]:
    """Templates with rows of every kind by server, made on first use."""
    made: dict[str, str] = {}
    return made


@pytest.fixture
async def make(server: Server) -> AsyncIterator[Callable[[str], Awaitable[Side]]]:
    """Makes fresh databases, each with an identity of its own, as if it had been migrated separately."""
    made: list[tuple[str, Postgres]] = []

    async def one(template: str = TEMPLATE) -> Side:
        name = server.create(template)
        client = Postgres(server.url(name))
        made.append((name, client))
        await client.open()
        await client.call("schema")  # connect before something blocks the loop
        side = Side(client, server.url(name))
        side.sql("update identity set id = gen_random_uuid()")
        return side

    yield one
    for name, client in made:
        await client.close()
        server.drop(name)


@pytest.fixture
async def source(make: Any, full: dict[str, str], server: Server) -> Side:
    """A database with rows of every kind."""
    if server.owner_url not in full:
        name = server.create(TEMPLATE)
        Side(Postgres(server.url(name)), server.url(name)).sql(ROWS)
        full[server.owner_url] = name
    side: Side = await make(full[server.owner_url])
    return side


@pytest.fixture
async def target(make: Any) -> Side:
    """An unused database."""
    side: Side = await make()
    return side


async def test_everything_arrives_unchanged_and_the_source_stays_unchanged(source: Side, target: Side) -> None:
    filled = source.dump(*STAYS)
    assert all(filled.values()), "moving.sql leaves a table empty"
    before = source.dump()
    looking = Looking()
    compared = await Transfer(source.port, target.port, looking).run()
    assert source.dump() == before
    assert target.dump(*STAYS) == filled
    folded = "select count(*), sum(strength), max(level) from relay.preference"
    assert target.sql(folded) == source.sql(folded), "preferences must be recomputed from the observations"
    assert {table.table: table.rows for table in compared} == {
        name: len(rows) for name, rows in filled.items() if name != "sequences"
    }
    assert all(table.same for table in compared)
    for step in ("Copying", "Comparing"):
        assert {(name, rows) for s, name, rows, of in looking.steps if s == step and rows == of} >= {
            (table.table, table.rows) for table in compared
        }


async def test_every_table_moves_after_the_tables_it_refers_to(source: Side) -> None:
    listed = [table["name"] for table in (await source.port.call("move_state"))["tables"]]
    assert sorted(listed) == sorted(set(source.tables()) - set(STAYS))
    references = source.sql(
        "select distinct a.relname, b.relname from pg_constraint c join pg_class a on a.oid = conrelid "
        "join pg_class b on b.oid = confrelid where contype = 'f' and conrelid <> confrelid "
        "and a.relnamespace = 'relay'::regnamespace"
    )
    assert references
    references = [(child, parent) for child, parent in references if child not in STAYS]
    for child, parent in references:
        if child in STAYS:
            continue
        assert listed.index(parent) < listed.index(child)
    for name in listed:
        assert await source.port.call("move_page", table=name, after=None, most_rows=1, most_bytes=1), name


async def test_sizes_are_nearly_right_without_statistics(make: Any) -> None:
    side: Side = await make()

    async def size_with(first: int, last: int) -> int:
        side.sql("insert into file_gone (unique_id) select generate_series(%s::bigint, %s)::text", first, last)
        return decode_row(MoveState, await side.port.call("move_state")).sizes["file_gone"]

    assert await size_with(1, 20_008) == 20_008
    side.sql("analyze file_gone")
    assert 100_000 < await size_with(20_009, 150_000) < 225_000, "the statistics are of an earlier time"
    side.sql("delete from file_gone where unique_id::bigint > 50000")
    assert 33_333 < await size_with(1, 0) < 75_000


async def test_a_new_table_and_its_columns_are_moved_without_extra_code(source: Side, target: Side) -> None:
    for side in (source, target):
        side.sql(
            'create table "odd name" ("a b" text, c date default now(), "Key" text, n bigint references message, '
            'primary key ("Key", "a b"))'
        )
    source.sql("""insert into "odd name" select n::text, null, 'ä' || n % 7, n from generate_series(1, 700) n""")
    compared = await Transfer(source.port, target.port, Looking()).run()
    assert ("odd name", 700, True) in [(table.table, table.rows, table.same) for table in compared]
    assert target.dump(*STAYS) == source.dump(*STAYS)


@pytest.mark.slow("test_everything_arrives_unchanged_and_the_source_stays_unchanged")
async def test_pages_of_any_size_give_the_same_result(source: Side, target: Side, monkeypatch: Any) -> None:
    monkeypatch.setattr("relay.archive.transfer.MOST_ROWS", 47)
    monkeypatch.setattr("relay.archive.transfer.DIGEST_ROWS", 53)
    await Transfer(source.port, target.port, Looking()).run()
    assert target.dump(*STAYS) == source.dump(*STAYS)


async def test_lost_responses_do_no_harm(source: Side, target: Side, monkeypatch: Any) -> None:
    monkeypatch.setattr("relay.archive.transfer.MOST_ROWS", 100)
    monkeypatch.setattr("relay.archive.transfer.asyncio.sleep", _no_pause(asyncio.sleep))
    looking = Looking()
    await Transfer(Lossy(source.port), Lossy(target.port), looking).run()
    assert target.dump(*STAYS) == source.dump(*STAYS)
    assert any("Waiting" in said for said in looking.said)


def _no_pause(sleep: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda _: sleep(0)


async def test_a_move_gives_up_on_an_unavailable_database_and_says_how_to_continue(
    source: Side, target: Side, monkeypatch: Any
) -> None:
    class Away:
        async def call(self, function: str, **arguments: Any) -> Any:
            raise DatabaseUnavailable

    monkeypatch.setattr("relay.memory.retrying_database.REACH_SECONDS", 0.1)
    with pytest.raises(DatabaseUnavailable, match="Run the same command again"):
        await Transfer(source.port, Away(), Looking()).run()


@pytest.mark.slow("test_a_killed_command_continues_where_it_stopped")
async def test_a_move_interrupted_anywhere_continues(source: Side, target: Side, monkeypatch: Any) -> None:
    class Break(Exception):
        pass

    monkeypatch.setattr("relay.archive.transfer.MOST_ROWS", 200)
    countdown = 0

    def then(step: str, table: str, rows: int) -> None:
        nonlocal countdown
        countdown -= 1
        if countdown == 0:
            raise Break

    for attempt in range(20):
        looking, countdown = Looking(then=then), int(3 * 1.6**attempt)
        try:
            await Transfer(source.port, target.port, looking).run()
            break
        except Break:
            continue
    assert attempt > 3
    assert "Continuing" in looking.said[0]
    assert target.dump(*STAYS) == source.dump(*STAYS)


async def test_a_target_with_data_is_refused_and_left_unchanged(source: Side, target: Side) -> None:
    target.sql("insert into space (kind, owner_id) values ('private', 5)")
    before = target.dump()
    with pytest.raises(MoveRefused, match="already contains data"):
        await Transfer(source.port, target.port, Looking()).run()
    target.sql("delete from space")
    target.sql("insert into soul (version, text, author_id) values (2, 'mine', 5)")
    with pytest.raises(MoveRefused, match="already contains data"):
        await Transfer(source.port, target.port, Looking()).run()
    target.sql("delete from soul where version = 2")
    target.sql("insert into space (id, kind, owner_id) overriding system value values (1, 'private', 5)")
    after = target.dump()
    assert {name: rows for name, rows in after.items() if name != "space"} == {
        name: rows for name, rows in before.items() if name != "space"
    }


async def test_an_unfinished_move_from_another_source_is_not_continued(source: Side, target: Side, make: Any) -> None:
    await target.port.call("move_begin", source="00000000-0000-0000-0000-000000000001", replace=False)
    target.sql("insert into space (kind, owner_id) values ('private', 5)")
    with pytest.raises(MoveRefused, match="Another move into the target"):
        await Transfer(source.port, target.port, Looking()).run()
    with pytest.raises(MoveRefused, match="is incomplete"):
        await Transfer(target.port, (await make()).port, Looking()).run()
    with pytest.raises(DatabaseError, match="no move from this source"):
        await source.port.call(
            "move_insert",
            source=str(source.sql("select id from identity")[0][0]),
            table="space",
            after=None,
            page={"rows": [], "last": None},
        )


@pytest.mark.slow("test_everything_arrives_unchanged_and_the_source_stays_unchanged")
async def test_data_is_moved_there_and_back(source: Side, target: Side) -> None:
    await Transfer(source.port, target.port, Looking()).run()
    again = Looking()
    await Transfer(source.port, target.port, again).run()
    assert "was finished" in again.said[0]

    target.sql("update message set text = 'edited there' where id = 1")
    target.sql("insert into space (kind, owner_id) values ('private', 5)")
    target.sql("delete from memory_change")
    with pytest.raises(MoveDiffers, match=r"memory_change.*message|message.*memory_change"):
        await Transfer(source.port, target.port, Looking()).run()
    old = source.dump()
    with pytest.raises(MoveRefused, match="was moved from the target"):
        await Transfer(target.port, source.port, Looking()).run()
    assert source.dump() == old
    await Transfer(target.port, source.port, Looking()).run(replace=True)
    assert source.dump(*STAYS) == target.dump(*STAYS)
    assert source.sql("insert into space (kind, owner_id) values ('private', 6) returning id") == [(62,)]
    await Transfer(source.port, target.port, Looking()).run(replace=True)
    assert source.dump(*STAYS) == target.dump(*STAYS)


@pytest.mark.slow("test_a_target_with_data_is_refused_and_left_unchanged and test_lost_responses_do_no_harm")
@pytest.mark.parametrize("replace", [True, False])
async def test_an_interrupted_replacement_continues_with_or_without_the_option(
    source: Side, target: Side, monkeypatch: Any, replace: bool
) -> None:
    target.sql(ROWS)
    target.sql("delete from memory_change")
    ident = str(source.sql("select id from identity")[0][0])
    assert (await target.port.call("move_begin", source=ident, replace=True))["progress"] == {}
    monkeypatch.setattr("relay.archive.transfer.MOST_ROWS", 200)
    with pytest.raises(KeyError):
        await Transfer(source.port, target.port, Looking(then=_stop_in_turn)).run(replace=True)
    looking = Looking()
    await Transfer(source.port, target.port, looking).run(replace)
    assert "Continuing" in looking.said[0]
    assert next(step for step in looking.steps if step[1] == "space") == ("Copying", "space", 60, 60)
    assert target.dump(*STAYS) == source.dump(*STAYS)


def _stop_in_turn(step: str, table: str, rows: int) -> None:
    if (step, table) == ("Copying", "turn") and rows > 400:
        raise KeyError


@pytest.mark.slow("test_a_damaged_copy_is_detected")
async def test_a_change_of_the_source_during_the_move_is_detected(source: Side, target: Side) -> None:
    changed = False

    def then(step: str, table: str, rows: int) -> None:
        nonlocal changed
        if table == "message" and not changed:
            changed = True
            source.sql("update turn set failures = failures + 1 where id = 3")

    with pytest.raises(MoveDiffers, match=r"The two sides differ: turn\."):
        await Transfer(source.port, target.port, Looking(then=then)).run()
    await Transfer(source.port, target.port, Looking()).run()
    assert target.dump(*STAYS) == source.dump(*STAYS)


async def test_a_damaged_copy_is_detected(source: Side, target: Side) -> None:
    def then(step: str, table: str, rows: int) -> None:
        if step == "Comparing" and table == "space":
            target.sql("update memory set content = content || ' ' where id = 1")
            target.sql("delete from outbox where id = 500")

    with pytest.raises(MoveDiffers, match="outbox, memory"):
        await Transfer(source.port, target.port, Looking(then=then)).run()


@pytest.mark.parametrize("which", ["source", "target"])
async def test_a_move_is_refused_while_either_side_is_in_use(source: Side, target: Side, which: str) -> None:
    side = {"source": source, "target": target}[which]
    side.sql(
        "insert into turn (kind, bot_id, lease_owner, lease_until) "
        "values ('message', 1, gen_random_uuid(), now() + interval '40 seconds')"
    )
    with pytest.raises(MoveRefused, match=rf"running on the {which}.*\b(39|40) s"):
        await Transfer(source.port, target.port, Looking()).run()


async def test_sides_that_do_not_match_are_refused(source: Side, target: Side) -> None:
    with pytest.raises(MoveRefused, match="same database"):
        await Transfer(source.port, source.port, Looking()).run()
    target.sql("alter table memory add column mood text")
    with pytest.raises(SchemaError, match="different schemas"):
        await Transfer(source.port, target.port, Looking()).run()


async def test_only_listed_tables_can_be_read_or_written(source: Side) -> None:
    ident = str(source.sql("select id from identity")[0][0])
    source.sql("insert into move (source_id, state) values (%s, 'copying')", ident)
    for name in (
        "migration",
        "identity",
        "move",
        "pg_class",
        "relay.space",
        "space; drop table relay.space",
        "Space",
        "",
    ):
        for function, more in (
            ("move_page", {"most_rows": 1, "most_bytes": 1}),
            ("move_digest", {"most_rows": 1}),
            ("move_insert", {"source": ident, "page": {"rows": [["1"]], "last": ["1"]}}),
        ):
            with pytest.raises(DatabaseError):
                await source.port.call(function, table=name, after=None, **more)
    assert source.sql("select count(*) from space") == [(60,)]


# The command


@dataclass(frozen=True)
class Shell:
    """Runs `relay` in a separate process. Its settings name an embedded database with data."""

    data_dir: Path
    environment: dict[str, str]

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "relay", *arguments],
            env=self.environment | more,
            cwd=self.data_dir.parent,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, *arguments: str, **more: str) -> tuple[int, str]:
        process = self.start(*arguments, **more)
        output = process.communicate(timeout=90)[0]
        return process.returncode, searched(output, self.environment | more)


@contextlib.contextmanager
def made_shell() -> Iterator[Shell]:
    """A shell whose data directory doesn't exist yet."""
    folder = Path(tempfile.mkdtemp(prefix="relay-move-"))
    ours = ("RELAY_", "TELEGRAM_", "ANTHROPIC_", "DATABASE_", "SUPABASE_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    try:
        yield Shell(folder / "data", environment | {"RELAY_DATA_DIR": str(folder / "data")})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def migrated() -> Iterator[Path]:
    """A data directory with rows of every kind."""
    with made_shell() as shell:
        assert shell.run("db", "migrate")[0] == 0

        async def fill() -> None:
            async with served(shell.data_dir) as here:
                here.sql(ROWS)

        asyncio.run(fill())
        yield shell.data_dir


@pytest.fixture
def shell(migrated: Path) -> Iterator[Shell]:
    """A shell with a copy of that data directory."""
    with made_shell() as shell:
        subprocess.run(["cp", "-a", migrated, shell.data_dir], check=True)  # the server may have an account of its own
        yield shell


@contextlib.asynccontextmanager
async def served(data_dir: Path) -> AsyncIterator[Side]:
    """An embedded server with direct SQL access."""
    server = EmbeddedPostgres(data_dir)
    url = await server.start()
    try:
        yield Side(Postgres(url), url)
    finally:
        await server.stop()


@pytest.mark.slow("test_a_killed_command_continues_where_it_stopped")
async def test_the_command_moves_to_another_server_and_back(shell: Shell, server: Server, tmp_path: Path) -> None:
    other = shell.data_dir.parent / "other"
    code, output = shell.run("move", "--to", "embedded", "--data-dir", str(other), RELAY_DATA_DIR=str(tmp_path))
    assert code == 1
    assert "nothing to move" in output
    async with served(shell.data_dir) as here:
        before = here.dump()
    name = server.create()
    try:
        url = server.url(name)
        code, output = shell.run("move", "--to", url)
        assert code == 0, output
        assert "The row counts and checksums of all tables match." in output
        assert "DATABASE_URL=postgresql://relay:…@" in output
        assert psycopg.conninfo.conninfo_to_dict(url)["password"] not in output
        there = Side(Postgres(url), url)
        async with served(shell.data_dir) as here:
            assert here.dump() == before
            assert there.dump(*STAYS) == here.dump(*STAYS)

        code, output = shell.run("move", "--to", "embedded", DATABASE_URL=url)
        assert code == 1
        assert "--replace" in output
        there.sql("update message set text = 'edited there' where id = 1")
        code, output = shell.run("move", "--to", "embedded", "--replace", DATABASE_URL=url)
        assert code == 0, output
        assert "  DATABASE_URL=\n" in output
        async with served(shell.data_dir) as here:
            assert there.dump(*STAYS) == here.dump(*STAYS)
        code, output = shell.run("move", "--to", "embedded", "--data-dir", str(other))
        assert code == 0, output
        assert f"RELAY_DATA_DIR={other}" in output
        async with served(other) as here:
            assert there.dump(*STAYS) == here.dump(*STAYS)
    finally:
        server.drop(name)


@pytest.mark.slow("test_lost_responses_do_no_harm and test_everything_arrives_unchanged_and_the_source_stays_unchanged")
async def test_a_killed_command_continues_where_it_stopped(shell: Shell, server: Server) -> None:
    name = server.create(TEMPLATE)
    url = server.url(name)
    there = Side(Postgres(url), url)
    try:
        async with served(shell.data_dir) as here:
            before = here.dump()
            for table in ("soul", "turn", "memory_change"):
                with psycopg.connect(url) as connection:  # the copy of this table waits for the lock, and is killed
                    connection.execute(f"lock table relay.{table} in exclusive mode".encode())
                    process = shell.start("move", "--to", url)
                    _eventually(lambda: there.sql("select 1 from pg_locks where not granted"), process)
                    process.kill()
                    process.communicate()
                    assert there.sql("select state from move") == ([] if table == "soul" else [("copying",)])
            code, output = shell.run("move", "--to", url)
            assert code == 0, output
            assert "Continuing the move" in output
            assert here.dump() == before
            assert there.dump(*STAYS) == here.dump(*STAYS)
    finally:
        server.drop(name)


def _eventually(condition: Callable[[], Any], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "the condition was never met"
        time.sleep(0.01)


@pytest.mark.slow("test_a_move_is_refused_while_either_side_is_in_use")
async def test_the_command_is_refused_while_relay_runs_on_the_data_directory(shell: Shell, target: Side) -> None:
    script = (
        "import sys; from pathlib import Path; from relay.clients.embedded.instance import Instance; "
        f"held = Instance(Path({str(shell.data_dir)!r})); print('held', flush=True); sys.stdin.readline()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script], env=shell.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    code, output = shell.run("move", "--to", target.url)
    holder.kill()
    holder.communicate()
    assert code == 1
    assert "Relay is running on" in output
    assert not in_use(shell.data_dir)
    code, output = shell.run("move", "--to", target.url)
    assert code == 0, output


def test_invalid_targets_are_refused(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    here = Settings(RELAY_DATA_DIR=str(tmp_path), DATABASE_URL="", SUPABASE_URL="")
    with pytest.raises(SettingsError, match="--to must be"):
        target_settings(here, "mysql://x", "K", None)
    with pytest.raises(SettingsError, match="--data-dir"):
        target_settings(here, "postgresql://x/y", "K", tmp_path)
    with pytest.raises(SettingsError, match="OTHER_KEY is not set"):
        target_settings(here, "https://x.supabase.co", "OTHER_KEY", None)
    (tmp_path / ".env").write_text("OTHER_KEY=sb_secret_1\n")
    there = target_settings(here, "https://x.supabase.co/", "OTHER_KEY", None)
    assert (there.supabase_url, there.supabase_service_role_key) == ("https://x.supabase.co", "sb_secret_1")
    with pytest.raises(SettingsError, match="--key-env"):
        target_settings(there, "https://y.supabase.co", "SUPABASE_SERVICE_ROLE_KEY", None)
    assert target_settings(there, "embedded", "K", None).supabase_url == ""
    url = "postgresql://me:secret@db.example.org:6543/postgres"
    assert place(target_settings(here, url, "K", None)) == "the PostgreSQL database db.example.org:6543/postgres"


async def test_a_target_that_fails_is_named_by_its_option(source: Side, tmp_path: Path) -> None:
    here = Settings(DATABASE_URL=source.url, RELAY_DATA_DIR=tmp_path / "data", SUPABASE_URL="")
    with pytest.raises(DatabaseUnavailable, match=r"nothing answers at that host and port\. Is --to right") as raised:
        await move(here, "postgresql://u:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in str(raised.value)
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"^--data-dir: Relay cannot write in"):
        await move(here, "embedded", data_dir=tmp_path / "file")
    with pytest.raises(DatabaseUnavailable, match="Is DATABASE_URL right"):
        await move(here.model_copy(update={"database_url": "postgresql://u:hunter2@127.0.0.1:1/db"}), source.url)


async def test_a_repeated_move_says_that_it_only_compared(
    source: Side, target: Side, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = Settings(DATABASE_URL=source.url, RELAY_DATA_DIR=tmp_path / "data", SUPABASE_URL="")
    await move(here, target.url)
    assert "\nMoved " in capsys.readouterr().out
    await move(here, target.url)
    told = capsys.readouterr().out
    assert "This move was finished on" in told
    assert "\nCompared " in told
    assert "Moved" not in told


def test_the_advice_names_a_folder_that_does_not_depend_on_the_present_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = Settings(RELAY_DATA_DIR=tmp_path / "data", DATABASE_URL="", SUPABASE_URL="")
    for typed, place_of in (("other", Path.cwd() / "other"), ("~/other", Path.home() / "other")):
        said = advice(here, target_settings(here, "embedded", "K", Path(typed)), "K")
        assert f"  RELAY_DATA_DIR={place_of}" in said.splitlines()


async def test_an_interrupted_move_says_how_to_continue(
    source: Side, target: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = asyncio.Event()

    async def hang(*_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Transfer, "_compare", hang)
    here = Settings(DATABASE_URL=source.url, RELAY_DATA_DIR=tmp_path / "data", SUPABASE_URL="")
    moving = asyncio.create_task(move(here, target.url))
    await begun.wait()
    moving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await moving
    told = "relay: Interrupted. The copied rows stay. Run the same command again to continue.\n"
    assert capsys.readouterr().err == told


# Supabase


@pytest.mark.slow("test_a_killed_command_continues_where_it_stopped and test_supabase_client.py")
async def test_a_supabase_project_is_moved_to_and_from_over_rest_only(shell: Shell, running: SupabaseProject) -> None:
    running.reset()
    running.sql("insert into relay.identity default values on conflict do nothing")  # the reset deletes all rows
    project = Side(Postgres(running.database_url), running.database_url)
    keys = {"SUPABASE_URL": running.url, "SUPABASE_SERVICE_ROLE_KEY": running.service_key}
    async with served(shell.data_dir) as here:
        before = here.dump()
        running.fail("lost", times=3, function="move_insert")
        code, output = await asyncio.to_thread(
            shell.run, "move", "--to", running.url, "--key-env", "PROJECT", PROJECT=running.service_key
        )
        assert code == 0, output
        assert "Waiting" in output
        assert f"  SUPABASE_URL={running.url}\n  SUPABASE_SERVICE_ROLE_KEY=… (what PROJECT holds)" in output
        assert not [secret for secret in running.secrets if secret in output]
        assert here.dump() == before
        assert project.dump(*STAYS) == here.dump(*STAYS)

        project.sql("update message set text = 'edited there' where id = 1")
        code, output = await asyncio.to_thread(shell.run, "move", "--to", "embedded", **keys)
        assert code == 1
        assert "was moved from the target" in output
        code, output = await asyncio.to_thread(shell.run, "move", "--to", "embedded", "--replace", **keys)
        assert code == 0, output
        assert "  SUPABASE_URL=\n  SUPABASE_SERVICE_ROLE_KEY=\n" in output, "one without the other is refused"
        assert project.dump(*STAYS) == here.dump(*STAYS)
        code, output = await asyncio.to_thread(
            shell.run, "move", "--to", running.url, "--replace", **keys | {"SUPABASE_URL": ""}
        )
        assert code == 0, "with the target's key in the settings, and not its address yet"
        assert project.dump(*STAYS) == here.dump(*STAYS)


@pytest.mark.slow("test_supabase_start.py")
async def test_a_project_without_tables_and_a_wrong_key_are_explained(shell: Shell, running: SupabaseProject) -> None:
    code, output = shell.run("move", "--to", running.url, "--key-env", "PROJECT", PROJECT=running.anon_key)
    assert code == 2
    assert "anon key" in output
    await asyncio.to_thread(running.forget_relay)
    try:
        code, output = shell.run("move", "--to", running.url, "--key-env", "PROJECT", PROJECT=running.service_key)
        assert code == 1
        assert "relay db migrate" in output
        assert "relay db sql" in output
    finally:
        await asyncio.to_thread(running.migrate)
