"""Tests backups of real databases: they hold everything as of one moment, and are restored row by row or not at all."""

# ruff: noqa: ASYNC220  (these tests have the event loop to themselves)

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import stat
import subprocess
import sys
import uuid
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from relay.archive.backup import Backup, BackupRefused
from relay.archive.backup_file import BackupDamaged
from relay.archive.move_rows import MoveState
from relay.archive.nightly import LogWatcher, backup_name, make_nightly_backup, remove_old
from relay.archive.restore import CheckedBackup, Restore, Restored, RestoreDiffers, RestoreRefused, check
from relay.clients.offline import OfflineModel
from relay.clients.postgres.database import Postgres
from relay.clients.supabase.database import Supabase
from relay.core.errors import DataReplaced
from relay.core.ports import Database
from relay.core.private_files import FileRefused
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.jobs.clock.scheduler import Schedule
from relay.jobs.night import back_up, backup_kind
from relay.jobs.runner import Runner
from relay.memory import migrations
from relay.memory.calls.base import decode_row
from relay.memory.night.run import NightFailed, Phase, run_night
from relay.memory.review.judging import notify_nobody
from relay.memory.rows.upkeep.night import Night, PhaseResult
from relay.memory.spending.budget import UNLIMITED
from relay.memory.store import Store
from relay.runtime.clients import Clients
from relay.runtime.runtime import Runtime
from relay.runtime.storage import Storage
from relay.surfaces.cli import backup as commands
from relay.surfaces.server.job_list import jobs
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.sides import ROWS, STAYS, Looking, Side
from tests.integration.turn_driver import ADA, TurnDriver, message
from tests.standins.fakes import FakeMessenger
from tests.standins.supabase import SupabaseServer

SCHEMA = migrations.load().version
AT_REST = """
update turn set status = 'done', lease_owner = null, lease_until = null where status in ('working', 'answered');
update inbox set status = 'done' where status = 'pending';
update lane set open_turn_id = null, due_at = null;
update duty set lease_owner = null, lease_until = null;
update announcement set status = 'done' where status = 'due';
delete from invite where used_by is null;
"""
"""What a restore changes in the unusual rows: nothing is in progress, and no link lets anyone in."""
MORE = """
with s as (insert into space (kind, owner_id) values ('private', %s) returning id),
t as (insert into thread (space_id, chat_id) select id, %s from s returning id, space_id),
e as (insert into session (thread_id, space_id) select id, space_id from t returning id, thread_id, space_id)
insert into message (space_id, thread_id, session_id, role, text, blocks)
select space_id, thread_id, id, 'user', repeat('words ', 50), '[]' from e
"""
"""One row of each kind, each of which refers to the one before, in one transaction."""
SERVING = """insert into duty (name, lease_owner, lease_until)
values ('serve:1', gen_random_uuid(), now() + interval '20 s')"""
REFUSED = (BackupDamaged, RestoreRefused)


class Rest:
    """A database as seen over REST: without snapshots."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def call(self, function: str, **arguments: Any) -> Any:
        return await self._database.call(function, **arguments)


@pytest.fixture(scope="module")
def full(embedded: Server) -> Iterator[str]:
    """A template with unusual rows in every table."""
    name = embedded.create(TEMPLATE)
    Side(Postgres(embedded.url(name)), embedded.url(name)).sql(ROWS + AT_REST)
    yield name
    embedded.drop(name)


@pytest.fixture
async def make(embedded: Server) -> AsyncIterator[Callable[..., Awaitable[Side]]]:
    """Makes databases."""
    made: list[tuple[str, Postgres]] = []

    async def one(template: str = TEMPLATE) -> Side:
        name = embedded.create(template)
        client = Postgres(embedded.url(name))
        made.append((name, client))
        await client.open()
        return Side(client, embedded.url(name))

    yield one
    for name, client in made:
        await client.close()
        embedded.drop(name)


def backup_of(database: Database, watcher: Any = None, schema: int = SCHEMA) -> Backup:
    return Backup(database, watcher or Looking(), "1.2.3", schema, "a test")


async def restored(
    path: Path, into: Database, replacing: bool = False, watcher: Any = None, **header: Any
) -> list[Restored]:
    """Checks a file and restores it. `header`: replaces values of the file's header."""
    found = await check(path, SCHEMA, watcher or Looking())
    found = CheckedBackup(path, replace(found.header, **header), found.sums)
    return await Restore(into, watcher or Looking(), found).run(replacing)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def with_rows(done: list[Restored]) -> dict[str, int]:
    return {table.table: table.rows for table in done}


JOBS = "select kind, key from job"
OF_OLDER_VERSIONS = """delete from summary_due; delete from title_due;
    update judging set due_at = null, lease_owner = null, lease_until = null"""
"""Deletes the work queues of versions before jobs. A restore turns them into jobs, as test_titles_sql.py checks."""


def same_but_jobs(dump: dict[str, list[str]]) -> dict[str, list[str]]:
    """Returns a dump without jobs and sequences, which may differ after a restore."""
    return {name: rows for name, rows in dump.items() if name not in ("job", "sequences")}


async def test_a_backup_restores_every_row(make: Any, full: str, tmp_path: Path) -> None:
    source, target = await make(full), await make()
    filled = source.dump(*STAYS)
    assert all(filled.values()), "moving.sql leaves a table empty"
    source.sql(OF_OLDER_VERSIONS)
    filled = source.dump(*STAYS)
    made = await backup_of(source.port).make(tmp_path / "all.relaybackup")
    assert made.header.complete.startswith("everything as it was at")
    done = await restored(made.path, target.port)
    assert same_but_jobs(target.dump(*STAYS)) == same_but_jobs(filled)
    assert set(source.sql(JOBS)) <= set(target.sql(JOBS)), "setting a queue aside may only add jobs"
    numbers = {name: len(rows) for name, rows in filled.items() if name != "sequences"}
    assert with_rows(done) == made.rows == numbers
    source.sql("update message set text = 'changed' where id = 1")
    source.sql("delete from memory_change")
    with pytest.raises(RestoreRefused, match="already contains data"):
        await restored(made.path, source.port)
    assert source.dump(*STAYS) != filled
    await restored(made.path, source.port, replacing=True)
    assert same_but_jobs(source.dump(*STAYS)) == same_but_jobs(filled)


@contextlib.asynccontextmanager
async def writing(side: Side) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Writes continuously in the background. The yielded function waits until the next write is done."""
    number, stop = 10**9, asyncio.Event()
    wrote = asyncio.Condition()

    async def work() -> None:
        nonlocal number
        async with await psycopg.AsyncConnection.connect(side.url, autocommit=True) as connection:
            await connection.execute("set search_path = relay")
            while not stop.is_set():
                number += 1
                await connection.execute(MORE.encode(), (number, number))
                async with wrote:
                    wrote.notify_all()

    async def another() -> None:
        async with wrote:
            await wrote.wait()

    task = asyncio.create_task(work())
    try:
        await another()
        yield another
    finally:
        stop.set()
        await task


@pytest.mark.slow("test_a_backup_restores_every_row and test_export.py")
@pytest.mark.parametrize("snapshot", [True, False])
async def test_a_backup_made_during_writes_is_consistent(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: bool
) -> None:
    monkeypatch.setattr("relay.archive.backup.MOST_ROWS", 7)
    source, target = await make(), await make()
    source.sql_for_each(MORE, ((number, number) for number in range(100)))
    async with writing(source) as another:

        class Slow(Looking):
            async def call(self, function: str, **arguments: Any) -> Any:
                await another()
                return await source.port.call(function, **arguments)

        port = source.port if snapshot else Slow()
        made = await backup_of(port).make(tmp_path / "some.relaybackup")
        await another()
        await another()
    numbers = {made.rows[name] for name in ("space", "thread", "session", "message")}
    assert len(numbers) == 1, "the backup must show a single moment"
    assert numbers.pop() >= 100
    done = await restored(made.path, target.port)
    assert with_rows(done) == made.rows
    assert not any(table.left_out for table in done)
    assert len(source.sql("select id from message")) > made.rows["message"]


async def test_a_backup_without_a_snapshot_is_complete_up_to_a_message(make: Any, tmp_path: Path) -> None:
    source, target = await make(), await make()
    source.sql_for_each(MORE, ((number, number) for number in range(5)))
    source.sql(
        "insert into turn (kind, bot_id, thread_id, status) values ('message', 1, 2, 'done'), ('message', 1, 3, 'done')"
    )
    source.sql("insert into inbox (bot_id, update_id, turn_id, status) values (1, 1, 1, 'done'), (1, 2, 2, 'done')")

    def then(step: str, table: str, rows: int) -> None:
        if (step, table) == ("Reading", "turn") and rows == 0:  # the threads have been read already
            source.sql(MORE, 77, 77)
            source.sql("update turn set thread_id = 6 where id = 1")

    made = await backup_of(Rest(source.port), Looking(then=then)).make(tmp_path / "up-to.relaybackup")
    assert made.header.complete == "complete up to message 5"
    done = await restored(made.path, target.port)
    assert {table.table: table.left_out for table in done if table.left_out} == {"turn": 1, "inbox": 1}
    assert target.sql("select id from message order by id") == [(1,), (2,), (3,), (4,), (5,)]
    assert target.sql("select id from turn") == [(2,)]
    assert target.sql("insert into message (space_id, thread_id, session_id, role, text, blocks) "
                      "values (1, 1, 1, 'user', '', '[]') returning id") == [(6,)]  # fmt: skip


async def test_a_backup_is_restored_over_rest(supabase: SupabaseServer, make: Any, tmp_path: Path) -> None:
    source, name = await make(), supabase.create(TEMPLATE)
    source.sql_for_each(MORE, ((2**53 + number, -number) for number in range(30)))
    project = Side(source.port, supabase.url(name))
    project.sql("insert into identity default values on conflict do nothing")
    client = Supabase(supabase.project.url, supabase.project.service_key)
    await client.open()
    try:
        made = await backup_of(source.port).make(tmp_path / "there.relaybackup")
        await restored(made.path, client)
        assert project.dump(*STAYS) == source.dump(*STAYS)
        again = await backup_of(client).make(tmp_path / "back.relaybackup")
        assert again.header.complete == "complete up to message 30"
        await restored(again.path, source.port, replacing=True)
        assert source.dump(*STAYS) == project.dump(*STAYS)
    finally:
        await client.close()


async def test_two_simultaneous_backups_are_each_consistent(make: Any, tmp_path: Path) -> None:
    source = await make()
    source.sql(MORE, 1, 1)
    later: list[asyncio.Task[Any]] = []

    def then(step: str, table: str, rows: int) -> None:
        if not later:
            source.sql(MORE, 2, 2)
            later.append(asyncio.create_task(backup.make(tmp_path / "second.relaybackup")))

    backup = backup_of(source.port, Looking(then=then))
    first = await backup.make(tmp_path / "first.relaybackup")
    second = await later[0]
    for table in ("space", "thread", "session", "message"):
        assert second.rows[table] == first.rows[table] + 1


def unpacked(content: bytes) -> bytes | None:
    """Unpacks a file. The last byte of compressed data has bits without meaning."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return None


async def test_a_truncated_or_altered_file_is_refused_before_anything_changes(make: Any, tmp_path: Path) -> None:
    source = await make()
    source.sql_for_each(MORE, ((number, number) for number in range(50)))
    before = source.dump()
    made = await backup_of(source.port).make(tmp_path / "good.relaybackup")
    whole = made.path.read_bytes()
    text = gzip.decompress(whole)
    bad = tmp_path / "bad.relaybackup"
    lines = text.splitlines(keepends=True)
    flipped = {at: whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in range(10, len(whole), 211)}
    damaged = {
        **{f"cut at {at}": whole[:at] for at in range(10, len(whole), len(whole) // 40)},
        **{f"bit at {at}": content for at, content in flipped.items() if unpacked(content) != text},
        "a row less": gzip.compress(b"".join(line for at, line in enumerate(lines) if at != 30)),
        "another word": gzip.compress(text.replace(b"words words", b"words swords", 1)),
        "another sum": gzip.compress(text.replace(b'"message": [50', b'"message": [49', 1)),
        "whole lines less": gzip.compress(b"".join(lines[:-1])),
        "more behind it": gzip.compress(text + lines[-1]),
        "garbage behind it": whole + b"garbage",
        "something else": b"hello",
        "nothing": b"",
    }
    for what, content in damaged.items():
        bad.write_bytes(content)
        # A changed bit may raise the version or the schema number.
        with pytest.raises(REFUSED, match=r"cut off or was altered|is not a backup|newer Relay"):
            print(what, await check(bad, SCHEMA, Looking()))
        with pytest.raises(REFUSED):
            await commands.restore(settings_of(source, tmp_path), bad, replace=True)
    assert source.dump() == before
    header = json.loads(lines[0])
    bad.write_bytes(gzip.compress(json.dumps(header | {"version": 2}).encode() + b"\n"))
    with pytest.raises(BackupDamaged, match="made by a newer Relay"):
        await check(bad, SCHEMA, Looking())
    with pytest.raises(RestoreRefused, match="from a newer Relay"):
        await check(made.path, SCHEMA - 1, Looking())


async def test_a_backup_is_readable_only_by_its_owner_and_never_left_incomplete(make: Any, tmp_path: Path) -> None:
    source, folder = await make(), tmp_path / "backups"
    source.sql(MORE, 1, 1)
    seen: list[int] = []

    def then(step: str, table: str, rows: int) -> None:
        (file,) = folder.iterdir()
        assert file.name == ".one.relaybackup.partial"
        seen.append(stat.S_IMODE(file.stat().st_mode))
        if table == "message":
            raise KeyError

    before = os.umask(0)
    try:
        with pytest.raises(KeyError):
            await backup_of(source.port, Looking(then=then)).make(folder / "one.relaybackup")
        assert set(seen) == {0o600}
        assert list(folder.iterdir()) == []
        made = await backup_of(source.port).make(folder / "one.relaybackup")
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    with pytest.raises(FileRefused, match="already"):
        await backup_of(source.port).make(made.path)
    with pytest.raises(FileRefused, match="cannot be written"):
        await backup_of(source.port).make(made.path / "below a file.relaybackup")


async def test_an_interrupted_restore_starts_over_and_blocks_backups_meanwhile(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.archive.restore.MOST_ROWS", 7)
    source, target = await make(), await make()
    source.sql_for_each(MORE, ((number, number) for number in range(30)))
    made = await backup_of(source.port).make(tmp_path / "all.relaybackup")

    def then(step: str, table: str, rows: int) -> None:
        if (step, table) == ("Storing", "message") and rows > 10:
            raise KeyError

    with pytest.raises(KeyError):
        await restored(made.path, target.port, watcher=Looking(then=then))
    assert (await migrations.present(target.port)).moving
    with pytest.raises(BackupRefused, match="not finished"):
        await backup_of(target.port).make(tmp_path / "half.relaybackup")
    await restored(made.path, target.port)
    assert not (await migrations.present(target.port)).moving
    assert target.dump(*STAYS) == source.dump(*STAYS)


async def test_changes_by_other_programs_during_a_restore_are_detected(make: Any, tmp_path: Path) -> None:
    source, target = await make(), await make()
    source.sql(MORE, 1, 1)
    made = await backup_of(source.port).make(tmp_path / "one.relaybackup")

    def then(step: str, table: str, rows: int) -> None:
        if (step, table) == ("Comparing", "soul"):
            target.sql("update message set text = 'meddled'")

    with pytest.raises(RestoreDiffers, match="message"):
        await restored(made.path, target.port, watcher=Looking(then=then))


async def test_a_backup_of_an_older_schema_gets_the_defaults(make: Any, tmp_path: Path) -> None:
    source, target = await make(), await make()
    source.sql(MORE, 1, 1)
    source.sql("insert into turn (kind, bot_id) values ('message', 1)")
    source.sql("alter table message drop column tainted")
    source.sql("alter table turn add column gone_since text default 'x'")
    source.sql("drop table incident")
    made = await backup_of(source.port, schema=SCHEMA - 1).make(tmp_path / "old.relaybackup")
    done = await restored(made.path, target.port)
    assert not any(table.left_out for table in done)
    assert target.sql("select id, tainted, left(text, 5) from message") == [(1, False, "words")]
    assert target.sql("select count(*) from turn, soul") == [(1,)]


async def test_a_backup_from_before_the_outbox_restores_sent_messages(make: Any, tmp_path: Path) -> None:
    source, target = await make(), await make()
    source.sql("insert into turn (kind, bot_id, status, done_at) values ('message', 1, 'done', now())")
    source.sql(
        "insert into outbox (turn_id, seq, bot_id, chat_id, request, status, telegram_message_id)"
        " select id, 1, 1, 1001, '{\"text\": \"Hi!\"}', 'sent', 77 from turn"
    )
    source.sql("drop view delivery")
    source.sql("alter table outbox rename to delivery")
    for column in ("topic_id", "user_id", "space_id", "inputs", "dedupe_key", "not_before", "under_turn_id"):
        source.sql(f"alter table delivery drop column {column}")
    made = await backup_of(source.port, schema=24).make(tmp_path / "old.relaybackup")
    await restored(made.path, target.port)
    sent = "select request ->> 'text', telegram_message_id, topic_id from outbox"
    assert target.sql(sent) == [("Hi!", 77, 0)]


async def test_reminders_that_nobody_confirmed_before_a_backup_are_told_at_their_time(
    make: Any, tmp_path: Path
) -> None:
    source, target = await make(), await make()
    source.sql(
        "with own as (insert into space (kind, owner_id) values ('private', 1001) returning id)"
        " insert into reminder (space_id, user_id, bot_id, chat_id, text, zone, start_at, next_at, origin, status)"
        " select id, 1001, 1, 1001, 'tea', 'UTC', now(), now() + interval '1 hour', 'tool', 'proposed' from own"
    )
    made = await backup_of(source.port, schema=56).make(tmp_path / "old.relaybackup")
    await restored(made.path, target.port)
    assert target.sql("select key, due_at = next_at, status from job, reminder") == [("1:1001:0", True, "proposed")]


async def test_hourly_reminders_of_an_older_backup_no_longer_ring_at_night(make: Any, tmp_path: Path) -> None:
    source, target = await make(), await make()
    source.sql(
        "with own as (insert into space (kind, owner_id) values ('private', 1001) returning id)"
        " insert into reminder (space_id, user_id, bot_id, chat_id, text, zone, start_at, rule, next_at, origin)"
        " select id, 1001, 1, 1001, rule, 'UTC', '2030-01-07 09:30', rule, '2030-01-07 22:30+00', 'tool'"
        " from own, (values ('FREQ=HOURLY'), ('FREQ=HOURLY;INTERVAL=4')) as made (rule)"
    )
    made = await backup_of(source.port, schema=61).make(tmp_path / "old.relaybackup")
    await restored(made.path, target.port)
    hours = "8,9,10,11,12,13,14,15,16,17,18,19,20"
    assert target.sql("select rule, to_char(next_at at time zone 'UTC', 'DD HH24:MI') from reminder order by id") == [
        (f"FREQ=HOURLY;BYHOUR={hours}", "08 08:30"),
        ("FREQ=HOURLY;INTERVAL=4", "07 22:30"),
    ]
    assert target.sql("select key, to_char(due_at at time zone 'UTC', 'DD HH24:MI') from job") == [
        ("1:1001:0", "07 22:30")
    ]


async def test_open_turns_are_set_aside_and_later_messages_are_answered(make: Any, tmp_path: Path) -> None:
    source, target = await make(), await make()
    store = Store(source.port, str(uuid.uuid4()))
    await TurnDriver(store).turn(ADA, "What is the answer?")
    await TurnDriver(store).say(message(ADA, "And then?"))
    made = await backup_of(source.port).make(tmp_path / "open.relaybackup")
    work = Restore(target.port, Looking(), await check(made.path, SCHEMA, Looking()))
    await work.run(replace=False)
    other = TurnDriver(Store(target.port, str(uuid.uuid4())))
    assert await other.claim() == []
    assert work.set_aside == 2
    assert target.sql("select distinct left(error, 9) from inbox") == [("set aside",)]
    (later,) = await other.say(message(ADA, "Later"))
    assert later.updates[0]["message"]["text"] == "Later"


async def test_a_restored_unused_invitation_lets_nobody_in(
    make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = await make(), await make()
    source.sql("insert into invite (hash, role, expires_at, used_by) values"
               " ('used', 'user', now() + interval '1 day', 7), ('open', 'user', now() + interval '1 day', null),"
               " ('claim', 'admin', now() + interval '1 day', null)")  # fmt: skip
    made = await backup_of(source.port).make(tmp_path / "some.relaybackup")
    await commands.restore(settings_of(target, tmp_path), made.path)
    assert target.sql("select hash from invite") == [("used",)]
    said = f"Access to the bot is as it was at {made.header.at:%Y-%m-%d %H:%M} UTC"
    assert said in capsys.readouterr().out


# Nightly backups


def test_old_backups_are_removed_but_never_the_newest_or_other_files(tmp_path: Path) -> None:
    now = datetime(2026, 5, 20, 3, 30, tzinfo=UTC)
    mine = [backup_name(now - timedelta(days=days)) for days in (9, 8, 7, 1)]
    others = ["relay-2020.relaybackup", "relay-20200101-000000.relaybackup.txt", "notes.txt"]
    partial = [f".{backup_name(now - timedelta(hours=hours))}.partial" for hours in (1, 30)]
    for name in [*mine, *others, *partial]:
        (tmp_path / name).touch()
    removed = remove_old(tmp_path, 7, now)
    assert {path.name for path in removed} == {*mine[:2], partial[1]}
    assert {path.name for path in tmp_path.iterdir()} == {*mine[2:], *others, partial[0]}
    remove_old(tmp_path, 7, now + timedelta(days=400))
    assert {path.name for path in tmp_path.iterdir()} == {mine[3], *others}


def backing_up(store: Store, backup: Backup, folder: Path) -> Runner:
    """Returns a runner that makes due backups."""

    async def make() -> PhaseResult:
        made = await make_nightly_backup(backup, folder, 7)
        return {"rows": sum(made.rows.values()), "bytes": made.bytes}

    return Runner(store, [backup_kind(store, make)])


async def night(runner: Runner) -> dict[str, PhaseResult]:
    """Runs a night with only the backup phase."""
    return await run_night(runner.store, [Phase("backup", partial(back_up, runner))])


async def last_night(store: Store) -> Night:
    found = (await store.night_ahead()).last
    assert found is not None
    return found


async def test_each_night_makes_one_backup_and_removes_the_old_ones(make: Any, tmp_path: Path) -> None:
    side = await make()
    store = Store(side.port, str(uuid.uuid4()))
    runner = backing_up(store, backup_of(side.port, LogWatcher()), tmp_path)
    made = (await night(runner))["backup"]
    (file,) = files_in(tmp_path)
    await check(file, SCHEMA, Looking())
    assert made["bytes"] == file.stat().st_size
    assert (await last_night(store)).phases == {"backup": made}
    assert await store.job("backup", str((await last_night(store)).id)) is None
    file.rename(tmp_path / "relay-20200101-000000.relaybackup")
    await night(runner)
    (file,) = files_in(tmp_path)
    assert file.name > "relay-2025", "the new backup must have replaced the old one"


async def test_a_backup_is_recorded_at_its_night_even_if_the_clock_jumps_meanwhile(make: Any, tmp_path: Path) -> None:
    side = await make()
    store = Store(side.port, str(uuid.uuid4()))

    async def made() -> PhaseResult:
        side.sql("update night set begun_at = begun_at - interval '30 hours'")
        return {"rows": 3}

    assert await night(Runner(store, [backup_kind(store, made)])) == {"backup": {"rows": 3}}
    assert side.sql("select count(*) from night where ended_at is not null") == [(1,)]


async def test_a_backup_that_failed_at_night_is_made_later_and_recorded(make: Any, tmp_path: Path) -> None:
    side, old = await make(), tmp_path / "relay-20200101-000000.relaybackup"
    old.touch()
    side.sql("insert into move (source_id, state) values (gen_random_uuid(), 'copying')")
    store = Store(side.port, str(uuid.uuid4()))
    runner = backing_up(store, backup_of(side.port), tmp_path)
    side.sql("insert into job (kind, key, lease_owner, lease_until) values"
             " ('backup', '1', gen_random_uuid(), now() + interval '1 second')")  # fmt: skip
    with pytest.raises(NightFailed, match="backup: A `relay move` or `restore`"):
        await night(runner)
    assert (await last_night(store)).ended_at
    assert files_in(tmp_path) == [old]
    key = str((await last_night(store)).id)
    assert await runner.run_one("backup", key)
    owed = await store.job("backup", key)
    assert owed is not None
    assert owed.failures >= 2
    side.sql("delete from move")
    assert await runner.run_one("backup", key)
    assert old not in files_in(tmp_path)
    assert (await last_night(store)).phases["backup"]["rows"]
    assert await store.job("backup", key) is None


async def test_an_interrupted_nightly_backup_is_made_by_the_next_process(make: Any, tmp_path: Path) -> None:
    side = await make()
    begun = asyncio.Event()

    async def hang() -> PhaseResult:
        begun.set()
        await asyncio.Event().wait()
        return {}

    dead = Store(side.port, str(uuid.uuid4()))
    broken = asyncio.create_task(night(Runner(dead, [backup_kind(dead, hang)])))
    await begun.wait()
    broken.cancel()
    with pytest.raises(asyncio.CancelledError):
        await broken
    side.sql("update job set lease_until = now() + interval '1 second'")
    store = Store(side.port, str(uuid.uuid4()))
    told = await night(backing_up(store, backup_of(side.port), tmp_path))
    assert told["backup"]["rows"]
    assert len(files_in(tmp_path)) == 1
    assert side.sql("select count(*) from night") == [(1,)]


# Commands


def settings_of(side: Side, folder: Path) -> Settings:
    return Settings(DATABASE_URL=side.url, RELAY_DATA_DIR=folder / "data", SUPABASE_URL="")


async def test_restore_saves_the_present_data_and_is_refused_while_relay_runs(
    make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = await make()
    side.sql(MORE, 1, 1)
    settings = settings_of(side, tmp_path)
    made = await commands.backup(settings, tmp_path)
    assert made.path.parent == tmp_path
    side.sql("update message set text = 'second'")
    script = (
        "import sys; from pathlib import Path; from relay.clients.embedded.instance import Instance; "
        f"held = Instance(Path({str(settings.data_dir)!r})); print('held', flush=True); sys.stdin.readline()"
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(RestoreRefused, match="is running"):
        await commands.restore(settings, made.path, replace=True)
    holder.kill()
    holder.communicate()
    side.sql(
        "insert into duty (name, lease_owner, lease_until) values ('poll', gen_random_uuid(), now() + interval '20 s')"
    )
    with pytest.raises(RestoreRefused, match="running on this database"):
        await commands.restore(settings, made.path, replace=True)
    side.sql("delete from duty")
    await commands.restore(settings, made.path, replace=True)
    told = capsys.readouterr().out
    assert "about 1 message, 0 memories, and everything else in it." in told
    assert f"To restore it: {RELAY} restore {made.path}" in told
    assert side.sql("select left(text, 5) from message") == [("words",)]
    (saved,) = settings.backups.iterdir()
    await commands.restore(settings, saved, replace=True)
    assert side.sql("select text from message") == [("second",)]


async def test_a_restore_shows_no_control_characters_of_the_file(
    make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = await make()
    odd = Backup(side.port, Looking(), "\x1b[31mEVIL", SCHEMA, "there\r\x9b2J")
    made = await odd.make(tmp_path / "odd.relaybackup")
    await commands.restore(settings_of(side, tmp_path), made.path)
    assert " UTC, from Relay [31mEVIL, there2J\nInto " in capsys.readouterr().out


async def test_an_interrupted_restore_says_what_to_do(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    side, begun = await make(), asyncio.Event()
    side.sql(MORE, 1, 1)
    settings = settings_of(side, tmp_path)
    made = await commands.backup(settings, tmp_path)

    async def hang(*_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(Restore, "_compare", hang)
        work = asyncio.create_task(commands.restore(settings, made.path, replace=True))
        await begun.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    told = "relay: Interrupted. The database is incomplete. Run the same command again; it starts over.\n"
    assert capsys.readouterr().err == told
    await commands.restore(settings, made.path, replace=True)
    assert side.sql("select count(*) from message") == [(1,)]


async def test_no_relay_starts_during_a_restore_and_only_one_runs(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side, other, begun = await make(), await make(), asyncio.Event()
    side.sql(MORE, 1, 1)
    settings, store = settings_of(side, tmp_path), Store(side.port, str(uuid.uuid4()))
    made = await commands.backup(settings, tmp_path)

    async def hang(*_: Any, **__: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    for where, how in ((Backup, "make"), (Restore, "_compare")):  # before it begins, and after
        with monkeypatch.context() as patch:
            patch.setattr(where, how, hang)
            work = asyncio.create_task(commands.restore(settings, made.path, replace=True))
            await begun.wait()
            assert (await migrations.present(side.port)).moving
            with pytest.raises(DataReplaced):
                await store.start()
            with pytest.raises(DataReplaced):
                await store.claim(1, 1, [])
            if where is Backup:
                with pytest.raises(RestoreRefused, match=r"Another restore .* run this again in a minute"):
                    await commands.restore(settings, made.path, replace=True)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        begun.clear()
        assert (await migrations.present(side.port)).moving is (where is Restore)
    await commands.restore(settings, made.path, replace=True)
    await store.start()
    await commands.restore(settings_of(other, tmp_path), made.path)  # an empty database needs no --replace
    assert other.sql("select count(*) from message") == [(1,)]


async def test_a_relay_that_started_anyway_keeps_its_data(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = await make()
    side.sql(MORE, 1, 1)
    settings = settings_of(side, tmp_path)
    made = await commands.backup(settings, tmp_path)
    side.sql("update message set text = 'since'")

    async def at_rest(database: Database) -> MoveState:
        state = decode_row(MoveState, await database.call("move_state"))
        side.sql(SERVING)
        return state

    monkeypatch.setattr("relay.archive.restore.require_rest", at_rest)
    with pytest.raises(RestoreRefused, match="is running on this database"):
        await commands.restore(settings, made.path, replace=True)
    assert side.sql("select text from message") == [("since",)]


async def test_what_an_interrupted_restore_left_is_saved_before_the_next(make: Any, tmp_path: Path) -> None:
    side = await make()
    side.sql(MORE, 1, 1)
    settings = settings_of(side, tmp_path)
    made = await commands.backup(settings, tmp_path)
    side.sql("insert into move (source_id, state) values (%s, 'copying')", made.header.id)
    side.sql("update message set text = 'said since'")
    await commands.restore(settings, made.path)
    assert side.sql("select left(text, 5) from message") == [("words",)]
    (saved,) = settings.backups.iterdir()
    await commands.restore(settings, saved, replace=True)
    assert side.sql("select text from message") == [("said since",)]


async def test_the_bot_makes_a_backup_every_night_unless_switched_off(make: Any, tmp_path: Path) -> None:
    side = await make()

    def job(days: int) -> Schedule:
        settings = settings_of(side, tmp_path).model_copy(update={"backup_days": days})
        storage = Storage(side.port, None, "a test")
        relay = Runtime(Clients(settings), storage, str(uuid.uuid4()), UNLIMITED, OfflineModel())
        messenger: Any = FakeMessenger()
        made = jobs(relay, messenger, 1, notify_nobody)
        return next(job for job in made if job.name == "daily sleep")

    await job(0).run()
    assert not (tmp_path / "data" / "backups").exists()
    side.sql("delete from duty")
    assert job(7).at == (3, 30)
    await job(7).run()
    (file,) = files_in(tmp_path / "data" / "backups")
    await check(file, SCHEMA, Looking())
