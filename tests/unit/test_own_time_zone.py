"""Dates are shown and read in the time zone that a person has chosen, not in the installation's."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from relay.commands.session.settings import zones_named
from relay.commands.session.zones import say_zone
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.choices import Choices
from tests.unit.test_commands import ADA, Canned, call, known, opened, row, told
from tests.unit.test_soul import ACTIVE

AT = "2026-05-03T20:30:00+00:00"
TOKYO = Choices(zone="Asia/Tokyo")
SAID = {
    "id": 3,
    "kind": "message",
    "part": 0,
    "at": AT,
    "role": "user",
    "name": "Ada",
    "user_id": ADA,
    "text": "kettle",
    "place": "",
    "topic_id": 0,
}
FOUND = {
    "found": [SAID | {"posted": None}], "total": 1, "more": False, "every": True, "near": False, "nowhere": False,
    "vague": False,
}  # fmt: skip
SUMMARY = {
    "id": 1, "number": 1, "text": "Tea.", "author_id": None, "by": None, "tainted": False, "model": "small",
    "created_at": AT,
}  # fmt: skip
SESSION = {
    "id": 1, "title": "Tea", "titled_by": "model", "from": AT, "to": AT, "messages": 1, "input": 1, "output": 1,
    "present": True,
    "summary": None, "first": None, "last": None,
}  # fmt: skip


def asked(database: Canned, text: str = "", **more: Any) -> Any:
    turn = ClaimedTurn(1, 1, "control", "working", 0, ADA, (), (), choices=TOKYO)
    return call(database, text, turn=turn, **more)


@pytest.mark.parametrize(
    ("command", "text", "answers", "shown"),
    [
        ("memory", "", {"list_memories": known(row(1, "likes tea", created_at=AT))}, "2026-05-04"),
        (
            "memory",
            "#1",
            {"numbered_memory": 1, "open_memory": opened(1, "likes tea", created_at=AT)},
            "2026-05-04 05:30",
        ),
        ("search", "kettle", {"find": FOUND, "keep_search": None}, "2026-05-04 05:30"),
        (
            "sessions",
            "",
            {"sessions": {"sessions": [SESSION], "total": 1}, "context_settings": {}},
            "2026-05-04 05:30 – 05:30",
        ),
        (
            "summary",
            "",
            {"summary": {"summary": SUMMARY, "present": 1, "fresh": 0, "messages": 4, "through": AT, "versions": 1}},
            "until 2026-05-04 05:30",
        ),
        ("soul", "", {"soul": ACTIVE | {"created_at": AT}}, "2026-05-04 05:30"),
    ],
)
async def test_dates_are_shown_in_the_persons_time_zone(
    command: str, text: str, answers: dict[str, Any], shown: str
) -> None:
    assert shown in (await told(command, asked(Canned(**answers), text, admin=True))).text


async def test_today_begins_at_midnight_in_the_persons_time_zone() -> None:
    searched, used = Canned(find=FOUND, keep_search=None), Canned(usage=[])
    await told("search", asked(searched, "kettle after:today"))
    await told("usage", asked(used))
    midnight = datetime.now(ZoneInfo("Asia/Tokyo")).replace(hour=0, minute=0, second=0, microsecond=0)
    query = next(given for name, given in searched.calls if name == "find")["query"]
    assert datetime.fromisoformat(query["since"]) == midnight
    assert datetime.fromisoformat(used.calls[0][1]["starts"][-1]) == midnight


@pytest.mark.parametrize(
    ("words", "zones"),
    [
        ("GMT-3", ["Etc/GMT+3"]),
        ("UTC+2", ["Etc/GMT-2"]),
        ("gmt +5:30", ["Asia/Kolkata"]),
        ("utc−9:30", ["Pacific/Marquesas"]),
        ("+1", ["Etc/GMT-1"]),
        ("UTC+0530", ["Asia/Kolkata"]),
        ("GMT+0", ["UTC"]),
        ("UTC+15", []),
        ("UTC+1:45", []),
        ("Etc/GMT-3", []),
        ("EST", ["America/New_York"]),
        ("mst", ["America/Denver", "America/Phoenix"]),
        ("utc", ["UTC"]),
        ("Wien", ["Europe/Vienna"]),
        ("köln", ["Europe/Berlin"]),
        ("Koeln", ["Europe/Berlin"]),
        ("Zürich", ["Europe/Zurich"]),
        ("Zuerich", ["Europe/Zurich"]),
        ("São Paulo", ["America/Sao_Paulo"]),
        ("San Francisco", ["America/Los_Angeles"]),
        ("san-diego", ["America/Los_Angeles"]),
        ("St. Petersburg", ["Europe/Moscow"]),
        ("Atlantis", []),
    ],
)
def test_a_zone_named_by_its_distance_from_utc_or_abbreviated_is_what_people_mean(words: str, zones: list[str]) -> None:
    assert zones_named(words) == zones


def test_a_zone_is_shown_by_the_distance_that_people_mean() -> None:
    assert [say_zone(one) for one in ("Etc/GMT+3", "Etc/GMT-12", "Etc/UTC", "Europe/Berlin")] == [
        "UTC−3", "UTC+12", "Etc/UTC", "Europe/Berlin",
    ]  # fmt: skip
