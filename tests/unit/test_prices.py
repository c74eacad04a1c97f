"""Model prices from a file, and what is said about a daily budget."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relay.core.errors import SettingsError
from relay.core.spending.charge import Spending
from relay.core.spending.prices import Prices, load
from relay.memory.spending.budget import Budget, Spent, Tally

BERLIN = ZoneInfo("Europe/Berlin")


def test_prices_from_a_file_override_the_built_in_ones(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(
        '{"claude-sonnet-5-5": {"input": 1, "output": 2, "cached": 0.5, "cache_write": 3},'
        ' "Qwen3:8B": {"input": 0, "output": 0}, "mine": {"input": 4, "output": 8}}'
    )
    prices = load(file)
    used = {"input_tokens": 10**6, "output_tokens": 10**6, "cache_read_input_tokens": 10**6}
    used["cache_creation_input_tokens"] = 10**6
    assert prices.cost("claude-sonnet-5-5-20261001", used) == 1 + 2 + 0.5 + 3
    assert prices.cost("qwen3:8b", used) == 0
    assert prices.cost("mine", used) == 4 + 8 + 4 + 5
    assert prices.cost("claude-opus-5-5", used) == Prices().cost("claude-opus-5-5", used)
    assert prices.cost("claude-sonnet-5-5", {"web_search_requests": 3}) == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"),
        ("{", "is not JSON"),
        ("[1]", "must be an object"),
        ('{"m": 3}', "the price of m must be an object"),
        ('{"m": {"input": 3}}', "the price of m must be an object"),
        ('{"m": {"input": 3, "output": 1, "outptu": 2}}', "has outptu; the kinds are input, output"),
        ('{"m": {"input": -3, "output": 1}}', "has -3 for input"),
        ('{"m": {"input": 3, "output": "1"}}', 'has "1" for output'),
        ('{"m": {"input": true, "output": 1}}', "has true for input"),
        ('{"m": {"input": NaN, "output": 1}}', "has NaN for input"),
        ('{"m": {"input": 1, "output": Infinity}}', "has Infinity for output"),
    ],
)
def test_an_invalid_price_file_is_explained(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "prices.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(file)
    assert words in str(caught.value)
    assert str(caught.value).startswith("RELAY_PRICES: ")


def test_a_budget_needs_the_price_of_every_model() -> None:
    Budget().check(RELAY_MODEL="local")
    for budget in (Budget(total=1), Budget(each=1)):
        budget.check(RELAY_MODEL="claude-sonnet-5-5")
        with pytest.raises(SettingsError, match="RELAY_SMALL_MODEL is local, whose price is unknown"):
            budget.check(RELAY_MODEL="claude-sonnet-5-5", RELAY_SMALL_MODEL="local")


def test_a_budget_day_begins_at_midnight_in_the_time_zone() -> None:
    now = datetime(2026, 3, 29, 22, 30, tzinfo=UTC)  # the clocks there were put forward that night
    assert Budget(zone=BERLIN).day(now) == datetime(2026, 3, 30, tzinfo=BERLIN)
    assert Budget().day(now) == datetime(2026, 3, 29, tzinfo=UTC)


def test_a_used_up_or_nearly_used_up_budget_is_announced() -> None:
    budget = Budget(total=5, each=1, zone=BERLIN)
    assert budget.used_up(Spent(4.99, 0.99)) == ""
    assert "Today's budget of $5.00 is used up" in budget.used_up(Spent(5, 0.5))
    assert (
        "Your budget of $1.00 for today is used up; I'll answer again from midnight (Europe/Berlin)"
        in budget.used_up(Spent(4, 1))
    )
    assert budget.nearly_used_up(Spent(4.9, 0.79)) == ""
    assert "$0.80 of your $1.00 for today is used (80%)" in budget.nearly_used_up(Spent(1, 0.8))
    assert "That used up your budget of $1.00" in budget.nearly_used_up(Spent(1, 1.5))
    assert Budget().used_up(Spent(1e9, 1e9)) == Budget().nearly_used_up(Spent(1e9, 1e9)) == ""


def test_a_turns_own_usage_counts_immediately() -> None:
    tally = Tally("claude-sonnet-5-5", Budget(each=1), Spent(0, 0.95))
    assert tally.make_spending(done=True) is None
    tally.count({"input_tokens": 20_000})
    assert not tally.used_up
    tally.count({"input_tokens": 6_000, "output_tokens": 0})
    assert "Your budget" in tally.used_up
    assert tally.make_spending(done=True) == Spending(
        tally.id, True, tally.model, {"input_tokens": 26_000, "output_tokens": 0}
    )
