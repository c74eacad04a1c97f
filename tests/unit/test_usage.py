"""Usage: prices, tokens by day in words, and the chart."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from PIL import Image

from relay.commands.session.usage import MOST_DAYS, UsageReport, Used, by_model, by_work, day_starts, sum_up
from relay.core.spending.charge import ChargedUse
from relay.core.spending.prices import LISTED, Prices, format_dollars
from relay.core.text import format_tokens
from relay.memory.rows.usage import DailyUse
from relay.memory.spending.budget import Budget, Spent
from relay.surfaces.chat.session.chart import BAR, LINE, PAPER, round_up, usage_chart
from relay.surfaces.chat.session.usage import describe_unasked, table
from relay.surfaces.telegram.formatting.format import format_reply
from tests.unit.test_commands import Canned, call
from tests.unit.test_commands import told as told_by

MILLION = {
    "input_tokens": 1_000_000,
    "cache_read_input_tokens": 1_000_000,
    "cache_creation_input_tokens": 1_000_000,
    "output_tokens": 1_000_000,
}


def row(day: int = 1, what: str = "answer", model: str = "claude-sonnet-5-5", **tokens: int) -> DailyUse:
    counted = {"times": 1, "input": 100, "cached": 800, "written": 100, "output": 50, "searches": 0} | tokens
    return DailyUse(day=day, what=what, model=model, **counted)


def report(starts: list[datetime], rows: list[DailyUse]) -> UsageReport:
    prices = Prices()
    days = tuple(sum_up([one for one in rows if one.day == day], prices) for day in range(1, len(starts) + 1))
    return UsageReport(
        starts=tuple(starts),
        days=days,
        models=by_model(rows, prices),
        works=(),
        whole=sum_up(rows, prices),
        budget=None,
        everywhere=None,
    )


def test_calls_that_nobody_asked_for_are_no_ideas() -> None:
    rows = [row(what="growth", times=4), row(what="check", times=1), row()]
    said = describe_unasked(by_work(rows, Prices()))
    assert said.startswith("**Unprompted** (part of the total): 1 call for checks, 4 calls for ideas for the soul, $")


@pytest.mark.parametrize(
    ("model", "spent"),
    [
        ("claude-sonnet-5-5", 2 + 0.1 + 2.5 + 10),
        ("claude-opus-4-5-20251101", 5 + 0.5 + 6.25 + 25),
        ("claude-haiku-4-5-latest", 1 + 0.1 + 1.25 + 5),
        ("claude-opus-4-0", 15 + 1.5 + 18.75 + 75),
        ("claude-sonnet-99", None),
        ("offline", None),
        (None, None),
    ],
)
def test_a_million_tokens_of_each_kind_cost_the_listed_price(model: str | None, spent: float | None) -> None:
    assert Prices().cost(model, MILLION) == (None if spent is None else pytest.approx(spent))


def test_sums_of_dollars_are_without_the_artefacts_of_binary_fractions() -> None:
    rows = [row(day=day, model="claude-haiku-4-5", input=100_000, cached=0, written=0, output=0) for day in (1, 2, 3)]
    assert sum_up(rows, Prices()).spent == 0.3
    assert Budget().spent([ChargedUse("claude-haiku-4-5", 100_000, 0, 0, 0, 0, own=True)] * 3) == Spent(0.3, 0.3)


def test_cached_tokens_are_cheaper_than_input_tokens() -> None:
    for name, price in LISTED.items():
        assert price.cached < price.input < price.output
        assert Prices().of(name) is price
    assert Prices().cost(
        "claude-sonnet-5-5", {"cache_read_input_tokens": 1, "service_tier": "standard"}
    ) == pytest.approx(1e-7)
    assert Prices().cost("claude-sonnet-5-5", {}) == 0


def test_amounts_are_readable() -> None:
    assert [format_dollars(amount) for amount in (0, 0.00123, 0.009, 0.01, 0.0999, 0.1, 12.345, 1234.5)] == [
        "$0.00", "$0.0012", "$0.009", "$0.01", "$0.0999", "$0.10", "$12.35", "$1,234.50",
    ]  # fmt: skip
    assert [format_tokens(number) for number in (0, 999, 1000, 123_456, 1_234_567, 2_000_000_000)] == [
        "0", "999", "1.0k", "123k", "1.2M", "2.0G",
    ]  # fmt: skip
    assert [format_tokens(number, beside=400_000) for number in (0, 999, 300_000)] == ["0.0k", "1.0k", "300k"]


def test_days_begin_at_midnight_across_clock_changes() -> None:
    zone = ZoneInfo("Europe/Berlin")
    starts = day_starts(90, zone)
    assert len(starts) == 90
    assert all((start.hour, start.minute) == (0, 0) and start.tzinfo is zone for start in starts)
    assert [b.date() - a.date() for a, b in itertools.pairwise(starts)] == [timedelta(days=1)] * 89
    assert starts[-1].date() == datetime.now(zone).date()


def test_the_usage_table_fits_the_width_of_a_phone() -> None:
    starts = day_starts(14, UTC)
    rows = [
        row(3), row(3, "summary", "claude-haiku-5-5", times=2), row(14, input=1_234_567, times=120, output=98_765),
        row(14, model="claude-later-9"),
    ]  # fmt: skip
    (part,) = format_reply(table(report(starts, rows)))
    lines = [line for line in part.text.splitlines() if line[:3].rstrip("-").isdecimal() or line.startswith("day ")]
    assert len(lines) == 3
    assert len({len(line) for line in lines}) == 1, "header and days are aligned"
    assert lines[0].split() == ["day", "answers", "in", "cache", "out", "cost"]
    assert all(len(line) <= 40 for line in lines)
    assert f"{starts[2]:%m-%d}       1   2.0k   80%   100" in part.text
    assert "claude-haiku-5-5: 2 summaries, 1,000 tokens in (80% from the cache), 50 out, $0.0001" in part.text
    assert "Total: 122 answers, 2 summaries" in part.text
    assert "No price known for claude-later-9" in part.text
    assert any(entity["type"] == "pre" for entity in part.entities)


def test_a_model_that_only_judged_is_not_said_to_have_done_nothing() -> None:
    starts = day_starts(2, UTC)
    rows = [row(2), row(2, "judge", "claude-haiku-5-5")]
    (part,) = format_reply(table(report(starts, rows)))
    assert "claude-haiku-5-5: 1,000 tokens in (80% from the cache), 50 out, $" in part.text
    assert "nothing" not in part.text


def test_ninety_busy_days_fit_one_message() -> None:
    starts = day_starts(MOST_DAYS, UTC)
    rows = [row(day, times=1234, input=9_876_543) for day in range(1, MOST_DAYS + 1)]
    assert len(format_reply(table(report(starts, rows)))) == 1


async def test_no_usage_and_invalid_numbers_of_days_are_answered() -> None:
    empty = await told_by("usage", call(Canned(usage=[])))
    assert "Nothing used" in empty.text
    assert empty.file is None
    assert empty.private
    for text in ("0", "91", "many", "-3", "9" * 30):
        assert "up to 90" in (await told_by("usage", call(text=text))).text


async def test_only_admins_see_the_usage_of_all_spaces() -> None:
    rows = [asdict(row())]
    database = Canned(usage=rows)
    assert "Everyone together" not in (await told_by("usage", call(database, "30"))).text
    assert [len(given["starts"]) for _, given in database.calls] == [30]
    assert not any(given["all"] for _, given in database.calls)
    assert "Everyone together" in (await told_by("usage", call(database, admin=True))).text
    assert database.calls[-1][1]["all"] is True


def test_the_chart_shows_both_series() -> None:
    days = [date(2026, 11, 1) + timedelta(days=number) for number in range(14)]
    used = [Used(input=100, cached=50 * number, output=9, spent=0.01 * number) for number in range(14)]
    picture = Image.open(io.BytesIO(usage_chart(days, used)))
    assert (picture.format, picture.size) == ("PNG", (800, 400))
    shown = {"#{:02X}{:02X}{:02X}".format(*colour) for _, colour in picture.convert("RGB").getcolors(100_000) or []}
    assert {BAR, LINE, PAPER} <= shown


@pytest.mark.parametrize("count", [1, 2, 90])
def test_a_chart_is_drawn_for_any_days_and_amounts(count: int) -> None:
    days = [date(2026, 11, 1) + timedelta(days=number) for number in range(count)]
    for used in (Used(), Used(input=5, unpriced=("x",)), Used(input=10**12, spent=1e6), Used(cached=1, spent=1e-7)):
        assert usage_chart(days, [used] * count).startswith(b"\x89PNG")


@pytest.mark.parametrize(("highest", "top"), [(0, 1), (0.3, 0.4), (1, 1), (1.1, 2), (7, 8), (99, 100), (2.3e6, 4e6)])
def test_the_axis_of_the_chart_ends_at_a_round_number(highest: float, top: float) -> None:
    assert round_up(highest) == pytest.approx(top)


def test_pillow_is_loaded_only_for_a_chart() -> None:
    code = "import sys, relay.surfaces.telegram.turns.worker, relay.surfaces.chat; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
