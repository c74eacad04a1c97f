"""Alerts: one per incident, one when it is over, and no flapping."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.errors import DatabaseUnavailable
from relay.core.spending.charge import ChargedUse
from relay.core.spending.prices import Prices
from relay.jobs.watch import alerts, conditions
from relay.jobs.watch.alerts import CALM, describe_incident, judge
from relay.jobs.watch.conditions import (
    Condition,
    Outcome,
    from_disks,
    from_jobs,
    from_lost_polls,
    from_readings,
    from_silence,
)
from relay.memory.calls.base import decode_row
from relay.memory.people import People
from relay.memory.rows.operations import Observation, Readings, WatchedIncident
from relay.memory.spending.budget import Budget
from relay.memory.store import Store

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
Json = dict[str, Any]


class StoredIncidents:
    """Incidents as the database stores them."""

    def __init__(self) -> None:
        self.open: WatchedIncident | None = None
        self.begun = self.ended = 0
        self.ends: list[datetime] = []

    def minute(self, wrong: bool | None, now: datetime) -> None:
        for seen in judge([Condition("disk", wrong, "Full.")], [self.open] if self.open else [], now):
            if seen.state == "wrong":
                self.begun += self.open is None
                self.open = incident("disk", seen_at=now)
            elif seen.state == "calm":
                assert self.open is not None
                self.open = replace(self.open, calm_since=now)
            else:
                self.open, self.ended = None, self.ended + 1


@given(st.lists(st.sampled_from([True, False, None]), max_size=60))
def test_an_incident_begins_once_and_ends_after_some_calm_minutes(readings: list[bool | None]) -> None:
    stored = StoredIncidents()
    quiet = -1
    for minute, wrong in enumerate(readings):
        before = stored.open is not None
        stored.minute(wrong, NOW + minute * MINUTE)
        if wrong:
            assert stored.open is not None
            quiet = -1
        elif wrong is False and quiet < 0:
            quiet = minute
        if before and stored.open is None:
            assert quiet >= 0
            assert (minute - quiet) * MINUTE >= CALM
    assert stored.begun - stored.ended == (stored.open is not None)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_problem_that_comes_and_goes_is_one_incident(readings: list[bool]) -> None:
    stored = StoredIncidents()
    stored.minute(True, NOW)
    short = [wrong or number % 3 == 0 for number, wrong in enumerate(readings)]
    for minute, wrong in enumerate(short, 1):
        stored.minute(wrong, NOW + minute * MINUTE)
    assert (stored.begun, stored.ended) == (1, 0)


def test_an_incident_that_is_no_longer_observed_ends_after_days() -> None:
    gone = incident("disk gone", seen_at=NOW - timedelta(days=1))
    assert judge([], [gone], NOW) == []
    assert judge([], [gone], NOW + timedelta(days=1.1)) == [Observation("disk gone", "over")]


def incident(kind: str, **more: Any) -> WatchedIncident:
    return WatchedIncident(**{"id": 1, "kind": kind, "detail": "", "begun_at": NOW, "seen_at": NOW} | more)


def readings(**more: Any) -> Readings:
    calm = {"queue_seconds": 0.0, "turns": 0, "failed": 0, "error": None, "owed": 0, "owed_error": None, "spent": ()}
    return Readings(now=NOW, open=(), **calm | more)


def spent(dollars: float) -> tuple[ChargedUse, ...]:
    none = {"own": False, "cached": 0, "written": 0, "output": 0, "searches": 0}
    return decode_row(tuple[ChargedUse, ...], [{"model": "claude-sonnet-5-5", "input": int(dollars * 500_000), **none}])


@pytest.mark.parametrize(
    ("now", "wrong"),
    [
        ({}, {}),
        ({"queue_seconds": 60}, {"queue": None}),
        ({"queue_seconds": 121}, {"queue": True}),
        ({"turns": 4, "failed": 4}, {"errors": None}),
        ({"turns": 6, "failed": 3}, {"errors": True}),
        ({"turns": 9, "failed": 3}, {"errors": None}),
        ({"turns": 100, "failed": 3}, {}),
        ({"owed": 1, "owed_error": "The model is away."}, {"summaries": True}),
        ({"spent": spent(3.9)}, {}),
        ({"spent": spent(4.0)}, {"spend": True}),
        ({"spent": spent(5.0)}, {"budget": True}),
    ],
)
def test_readings_beyond_their_limits_are_incidents(now: Json, wrong: dict[str, bool | None]) -> None:
    found = {one.kind.split()[0]: one for one in from_readings(readings(**now), Budget(5, prices=Prices()), 77)}
    assert {kind: one.wrong for kind, one in found.items() if one.wrong is not False} == wrong
    assert set(found) == {"queue", "errors", "summaries", "spend", "budget"}


def test_an_error_that_needs_a_person_is_reported_at_once_with_its_cause() -> None:
    error = "ModelAccountError: The model's server does not accept the key. Check ANTHROPIC_API_KEY."
    _, errors, *_ = from_readings(readings(turns=1, failed=1, error=error), Budget(), 77)
    assert errors.detail.startswith("The last message could not be answered.")
    assert errors.wrong
    assert errors.detail.endswith("The last one: The model's server does not accept the key. Check ANTHROPIC_API_KEY.")
    _, away, *_ = from_readings(readings(turns=1, failed=1, error="ModelUnavailable: It is away."), Budget(), 77)
    assert away.wrong is None


def test_without_a_budget_there_is_no_budget_alert() -> None:
    assert not any(one.wrong for one in from_readings(readings(spent=spent(1000)), Budget(), 77))


def test_a_long_silence_of_telegram_is_an_incident() -> None:
    assert from_silence(40.0, 77).wrong is False
    silent = from_silence(130.0, 77)
    assert (silent.wrong, silent.seconds) == (True, 130.0)


def test_another_polling_program_is_an_incident() -> None:
    assert [from_lost_polls(lost, 77).wrong for lost in (0, 1, 2, 3, 10)] == [False, None, None, True, True]
    assert "/revoke" in from_lost_polls(3, 77).detail


@pytest.mark.parametrize(
    ("error", "failures", "daily", "wrong"),
    [("", 0, True, False), ("No room.", 1, True, True), ("No room.", 1, False, None), ("No room.", 3, False, True)],
)
def test_a_failed_daily_job_is_reported_at_once(error: str, failures: int, daily: bool, wrong: bool | None) -> None:
    (found,) = from_jobs({"backup": Outcome(NOW, error, failures, daily)})
    assert found.wrong is wrong
    assert found.kind == "job backup"
    assert "“backup” failed: No room. I'll try" in found.detail or not error


@pytest.mark.parametrize(
    ("total", "free", "wrong"),
    [
        (100e9, 4e9, True), (100e9, 6e9, None), (100e9, 8e9, False), (2e12, 50e9, False), (2e12, 9e9, True),
        (4e9, 0.4e9, True), (4e9, 0.9e9, False), (1e9, 0.4e9, False),
    ],
)  # fmt: skip
def test_a_nearly_full_disk_is_an_incident(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, total: float, free: float, wrong: bool | None
) -> None:
    monkeypatch.setattr(conditions.shutil, "disk_usage", lambda _: SimpleNamespace(total=total, free=free))
    (found,) = from_disks([tmp_path, tmp_path, tmp_path / "not there"], "host")
    assert found.wrong is wrong
    assert found.kind == f"disk host {tmp_path}"


def test_incidents_are_described_in_one_line_each() -> None:
    silent = incident("telegram 77", detail="I do not hear from Telegram.", begun_at=NOW + 3 * MINUTE)
    assert describe_incident(silent, UTC) == "⚠️ I do not hear from Telegram.\n\nSince 12:03 on 20 November."
    over = replace(silent, over_at=NOW + timedelta(minutes=41, seconds=20))
    line = "I couldn't reach Telegram from 12:03 on 20 November to 12:41 (38 min)."
    assert describe_incident(over, UTC) == f"⚠️ {line} It's over."
    assert describe_incident(replace(over, told_at=NOW), UTC) == f"✅ It's over: {line}"
    assert describe_incident(replace(over, kind="spend"), UTC) == ""
    late = replace(over, kind="job backup", over_at=NOW + timedelta(days=1, hours=2, minutes=3))
    line = "The job “backup” failed from 12:03 on 20 November to 14:03 on 21 November (26 h 0 min)"
    assert line in describe_incident(late, UTC)


async def test_admins_are_told_once_if_a_full_disk_stops_the_database(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(conditions.shutil, "disk_usage", lambda _: SimpleNamespace(total=100e9, free=0))
    said: list[tuple[int, str]] = []

    class FakeTelegram:
        async def call(self, method: str, **fields: Any) -> None:
            said.append((fields["chat_id"], fields["text"]))

    class FullDatabase:
        async def call(self, function: str, **arguments: Any) -> Any:
            raise DatabaseUnavailable()

    people = People(frozenset({7}))
    watch = alerts.AlertMonitor(
        Store(FullDatabase(), "w"),
        people,
        FakeTelegram(),
        1,
        Budget(),
        [tmp_path],
        lambda: 0.0,
        lambda: 0,
        {},
        machine="pi",
    )
    await watch.look()
    await watch.look()
    ((chat, text),) = said
    assert chat == 7
    assert "nearly full: 0 MB" in text
