"""Tests decay: unused sessions are compressed at 7 and 30 days, and replaced versions are deleted at 60 days."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from relay.clients.offline import OfflineModel
from relay.core.spending.charge import Charge
from relay.memory.night import run as night_run
from relay.memory.night.asking import BatchModel
from relay.memory.night.digest import Digests
from relay.memory.night.run import decay, decay_told
from relay.memory.night.words import describe_phase
from relay.memory.rows.upkeep.digest import Decayed, DigestPlace
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.spending.budget import UNLIMITED
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.test_morning_sql import Writer, morning, told, wanted
from tests.integration.test_sleep import faded
from tests.integration.turn_driver import ADA, BOT, TurnDriver, private, send_queued
from tests.standins.fakes import FakeMessenger

ON = """insert into context_setting (space_id, settings) select id, jsonb_build_object('autoDecay',
    jsonb_build_object('enabled', true, 'schedule', %s::text)) from space on conflict (space_id) do update
    set settings = excluded.settings"""
SESSIONS = """with made as (
    insert into session (thread_id, space_id, title, started_at, ended_at, registered_at)
    select t.id, t.space_id, 'Session ' || n, now() - n * interval '1 day', now() - n * interval '1 day', now()
    from thread t, generate_series(%s::integer, %s::integer) n returning *)
    insert into message (space_id, thread_id, session_id, role, text, blocks, created_at)
    select space_id, thread_id, id, r, 'Something', '[]', started_at from made, unnest(array['user', 'assistant']) r"""
A_DAY = (
    "set session_replication_role = replica",  # to move times without the triggers, which index everything again
    "update message set created_at = created_at - interval '1 day'",
    "update session set last_accessed_at = last_accessed_at - interval '1 day'",
    "update compression set created_at = created_at - interval '1 day', dropped_at = dropped_at - interval '1 day'",
    "reset session_replication_role",
)
MADE = """update compression set status = 'ready', rows = '[{"role": "user", "text": "Short"}]', output_tokens = 2
    where status = 'due' returning id"""
STATE = """select s.title, c.settings ->> 'tierPreset', c.status from session s
    join compression c on c.session_id = s.id order by c.id"""


@pytest.fixture
async def resting(driver: TurnDriver, sql: Sql) -> TurnDriver:
    """Ada's space with decay switched on."""
    await driver.exchange(ADA, "Hello")
    await sql(ON, "daily")
    return driver


def gate_of(store: Store) -> Gate:
    return Gate(OfflineModel(), store, UNLIMITED)


async def night(store: Store) -> PhaseResult:
    """Runs the decay phase of a night and its jobs."""
    begun = await store.begin_night()
    told = await decay(store, gate_of(store), begun.id)
    await store.end_night(begun.id)
    return told


async def a_day_later(sql: Sql) -> None:
    await sql(MADE)
    for statement in A_DAY:
        await sql(statement)


async def test_thirty_sessions_decay_on_schedule_over_ninety_days(resting: TurnDriver, store: Store, sql: Sql) -> None:
    await sql(SESSIONS, 1, 30)
    seen: dict[tuple[str, str], int] = {}
    gone: dict[str, int] = {}
    most = 0
    for day in range(90):
        if day == 25:
            await sql("select relay.touch_sessions(array[id]) from session where title = 'Session 4'")  # on day 29
        most = max(most, (await night(store))["made"])
        for title, preset, status in await sql(STATE):
            seen.setdefault((title, preset), day)
            if status == "dropped":
                assert preset == "standard"
                gone.setdefault(title, day)
        await a_day_later(sql)
    assert most == 20, "the first night, with more due, must reach the limit"
    age = {key: day + int(key[0].split()[1]) for key, day in seen.items()}
    rest = [n for n in range(1, 30) if n != 4]
    assert {age[f"Session {n}", "aggressive"] for n in rest} == {30}
    late = [age[f"Session {n}", "standard"] for n in rest if n < 7]
    assert set(late) == {7}
    assert sum(age[f"Session {n}", "standard"] == n for n in rest) == 19, "the 30-day version must have been made first"
    assert sum(age[f"Session {n}", "standard"] == n + 1 for n in rest if n >= 7) == 4
    assert ("Session 30", "standard") not in seen, "the session was old enough for the stronger version"
    assert seen["Session 4", "standard"] == 3
    assert seen["Session 4", "aggressive"] == 25 + 30, "the idle time must start again when the session was opened"
    assert gone["Session 4"] == 25 + 60
    assert {gone[f"Session {n}"] + n for n in range(1, 30) if n != 4} == {60}
    left = await sql(
        "select session_id, count(*) from compression where status = 'ready' group by 1 having count(*) > 1"
    )
    assert left == []


async def test_decay_is_off_by_default_and_where_memory_is_off(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "Hello")
    await sql(SESSIONS, 8, 8)
    assert (await night(store))["made"] == 0
    await sql(ON, "daily")
    await sql("update space set memory = 'off'")
    assert (await night(store))["made"] == 0
    await sql("update space set memory = 'on'")
    assert (await night(store))["made"] == 1
    assert (await night(store))["made"] == 0, "the version is already being made"
    [made] = await sql("select settings - 'sessionDistance', created_by, status from compression")
    assert made == (
        {"mode": "tiered", "tierPreset": "standard", "model": "small", "method": "model", "skipFirstMessages": 0,
         "keepitMode": "decay"}, 0, "due",
    )  # fmt: skip
    assert await sql("select count(*) from job where kind = 'compression'") == [(1,)]


async def test_versions_made_by_people_and_recently_used_ones_stay(resting: TurnDriver, store: Store, sql: Sql) -> None:
    await sql(SESSIONS, 61, 62)
    await sql(
        "insert into compression (space_id, thread_id, session_id, number, name, settings, status, rows, created_by,"
        " last_used_at) select space_id, thread_id, id, n, 'v00' || n, jsonb_build_object('tierPreset',"
        " (array['standard', 'gentle', 'aggressive'])[n]), 'ready', '[]', case n when 2 then %s else 0 end,"
        " case title when 'Session 62' then now() end from session, generate_series(1, 3) n where title is not null",
        ADA,
    )
    assert await night(store) == {"made": 0, "dropped": 1, "left": 0}
    assert await sql("select s.title, c.number from compression c join session s on s.id = c.session_id"
                     " where c.status = 'dropped'") == [("Session 61", 1)]  # fmt: skip


async def test_a_version_in_a_composition_stays(resting: TurnDriver, store: Store, sql: Sql) -> None:
    await sql(SESSIONS, 61, 61)
    await night(store)
    await sql(MADE)
    await sql("insert into compression (space_id, thread_id, session_id, number, name, settings, status, rows,"
              " created_by)"
              " select space_id, thread_id, session_id, 2, 'v002', settings, 'ready', '[]', 0 from"
              " compression")  # fmt: skip
    await sql("insert into composition (space_id, thread_id, name, budget, created_by) select space_id,"
              " thread_id, 'Plan',"
              " 4000, 1 from compression where number = 1")  # fmt: skip
    await sql("insert into composition_part (composition_id, place, session_id, compression_id, version)"
              " select c.id, 0, v.session_id, v.id, v.name from composition c, compression v where v.number ="
              " 1")  # fmt: skip
    assert (await night(store))["dropped"] == 0
    await sql("update composition set deleted_at = now()")
    assert (await night(store))["dropped"] == 1


@pytest.mark.parametrize(("weekday", "made"), [(6, 1), (0, 0)])
async def test_a_weekly_schedule_waits_for_sunday(
    resting: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch, weekday: int, made: int
) -> None:
    await sql(ON, "weekly")
    await sql(SESSIONS, 8, 8)
    monkeypatch.setattr(night_run, "SUNDAY", (await sql("select extract(isodow from now())::integer - 1"))[0][0]
                        if weekday == 6 else 7)  # fmt: skip
    assert (await night(store))["made"] == made


@pytest.mark.parametrize(("zone", "made"), [("Pacific/Kiritimati", 1), ("Etc/GMT+12", 0)])
async def test_sunday_is_that_of_the_installations_time_zone(
    resting: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch, zone: str, made: int
) -> None:
    await sql(ON, "weekly")
    await sql(SESSIONS, 8, 8)
    monkeypatch.setattr(night_run, "SUNDAY", datetime.now(ZoneInfo("Pacific/Kiritimati")).weekday())
    gate = Gate(OfflineModel(), store, replace(UNLIMITED, zone=ZoneInfo(zone)))
    begun = await store.begin_night()
    assert (await decay(store, gate, begun.id))["made"] == made


async def test_on_access_makes_a_version_when_the_session_is_opened(
    resting: TurnDriver, store: Store, sql: Sql
) -> None:
    await sql(ON, "on-access")
    await sql(SESSIONS, 8, 9)
    assert (await night(store))["made"] == 0
    await sql("select relay.touch_sessions(array[id]) from session where title = 'Session 9'")
    assert [(title, preset) for title, preset, _ in await sql(STATE)] == [("Session 9", "standard")]


async def test_a_used_up_budget_makes_no_version(
    resting: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sql(SESSIONS, 8, 8)

    async def used_up(self: Gate, charge: Charge | None = None) -> str:
        return "Today's budget is used up."

    monkeypatch.setattr(Gate, "used_up", used_up)
    assert await night(store) == {"made": 0, "dropped": 0, "left": 1}
    assert describe_phase("decay", {"made": 0, "dropped": 0, "left": 1}) == "versions: 1 left for the next night"


async def test_decay_reports_its_work_in_the_digest_and_the_status(resting: TurnDriver, store: Store, sql: Sql) -> None:
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await night(store)
    await sql("delete from sleep_due")  # nothing is new
    await sql(SESSIONS, 8, 8)
    begun = await store.begin_night()
    assert await decay(store, gate_of(store), begun.id) == {"made": 1, "dropped": 0, "left": 0}
    mind = BatchModel(store, gate_of(store), "small")
    assert await Digests(mind, BOT.id, tuple).run(begun.id) == {"sent": 1, "left": 0}
    [(text,)] = await sql("select request ->> 'text' from outbox where status = 'queued'")
    assert text == "🗜 I made 1 compressed version of older conversations (/sessions)."
    assert (await store.status(private(ADA))).versions.by_night == 1


async def test_a_version_dropped_by_decay_is_restored_from_the_digest(
    resting: TurnDriver, store: Store, sql: Sql
) -> None:
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await night(store)
    await sql("delete from sleep_due")  # nothing is new
    await sql(SESSIONS, 61, 61)
    for preset in ("standard", "aggressive"):
        await sql("select relay.make_version((select max(id) from session), 0, relay.decay_version("
                  "relay.context_settings((select max(space_id) from session)), %s))", preset)  # fmt: skip
        await sql(MADE)
    begun = await store.begin_night()
    assert (await decay(store, gate_of(store), begun.id))["dropped"] == 1
    await Digests(BatchModel(store, gate_of(store), "small"), BOT.id, tuple).run(begun.id)
    messenger = FakeMessenger()
    await send_queued(store, messenger)
    [(_, sent)] = messenger.calls
    [[undo]] = sent["reply_markup"]["inline_keyboard"]
    await sql("update compression set dropped_at = dropped_at - interval '8 hours'")
    await store.tidy(14, 100)
    version = int(undo["callback_data"].removeprefix("lg:"))
    assert [one.id for one in await store.restore_versions(private(ADA), version)] == [version]
    await store.end_night(begun.id)
    assert (await night(store))["dropped"] == 0, "the restored version must count as just used"


async def test_a_digest_in_the_morning_restores_a_version_dropped_by_decay(
    resting: TurnDriver, store: Store, sql: Sql
) -> None:
    await wanted(store)
    await faded(store, sql, "puns", 1, 185)
    await sql("update message set created_at = created_at - interval '2 days'")
    await sql(SESSIONS, 61, 61)
    for preset in ("standard", "aggressive"):
        await sql("select relay.make_version((select max(id) from session), 0, relay.decay_version("
                  "relay.context_settings((select max(space_id) from session)), %s))", preset)  # fmt: skip
        await sql(MADE)
    assert (await night(store))["dropped"] == 1
    await morning(store, sql, Writer("[]"))
    messenger = FakeMessenger()
    await send_queued(store, messenger)
    [(_, sent)] = messenger.calls
    assert "🎚 Retired, not seen for 180 days: prefer puns." in sent["text"]
    assert "🗜 I dropped 1 old version (/sessions)." in sent["text"]
    [[undo]] = sent["reply_markup"]["inline_keyboard"]
    version = int(undo["callback_data"].removeprefix("lg:"))
    assert [one.id for one in await store.restore_versions(private(ADA), version)] == [version]
    await sql("update night set ended_at = ended_at - interval '1 day'")
    await morning(store, sql, Writer("[]"))
    assert len(await told(sql)) == 1, "both must be reported once"


@pytest.mark.parametrize("status", ["ready", "failed"])
async def test_a_digest_in_the_morning_reports_no_version_that_failed(
    resting: TurnDriver, store: Store, sql: Sql, status: str
) -> None:
    await wanted(store)
    await sql("update message set created_at = created_at - interval '2 days'")
    await sql(SESSIONS, 8, 8)
    assert (await night(store))["made"] == 1
    await sql("update compression set status = %s", status)
    await morning(store, sql, Writer("[]"))
    made = "🗜 I made 1 compressed version of older conversations (/sessions)."
    assert await told(sql) == ([made] if status == "ready" else [])


def test_decay_reports_both_made_and_dropped_versions() -> None:
    assert decay_told(Decayed(2, 1)) == (
        "I made 2 compressed versions of older conversations and dropped 1 old version (/sessions)."
    )
