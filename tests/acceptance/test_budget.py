"""A day's budget from outside: a warning once, then a line instead of an answer, and answers again on the next day."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.house import House, open_house
from tests.acceptance.test_settings_errors import GOOD, run
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
YESTERDAY = "update relay.spend set at = at - interval '1 day'"
WARNED = "update relay.budget_warning set told_at = told_at - interval '1 day'"


def at_prices(folder: Path, **dollars: float) -> str:
    """A file with prices for a million tokens that go in; what comes out is free."""
    file = folder / "prices.json"
    file.write_text(json.dumps({model: {"input": price, "output": 0} for model, price in dollars.items()}))
    return str(file)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A bot whose model costs a thousandth of a dollar for a token: a question costs dollars."""
    prices = at_prices(tmp_path, **{SONNET: 1000.0, HAIKU: 0.0})
    async with open_house(
        RELAY_PRICES=prices, RELAY_DAILY_BUDGET_USD="1000", RELAY_DAILY_BUDGET_USD_PER_USER="100"
    ) as house:
        yield house
        assert house.tracebacks() == []


async def ask(house: House, chat: Chat, text: str) -> str:
    """The bot's reply to a message."""
    said = await house.tg.say(chat, None, text)
    return (await house.tg.wait_reply(chat, said, timeout=30)).text


def asked(house: House) -> int:
    """How often the big model was asked."""
    return sum(one.model == SONNET for one in house.model.requests)


def spend(house: House, dollars: float, user_id: int) -> None:
    """Somebody has spent this much today besides."""
    house.sql(
        "insert into relay.spend (id, what, done, user_id, model, input)"
        " values (gen_random_uuid(), 'answer', true, %s, %s, %s)",
        user_id, SONNET, int(dollars * 1000),
    )  # fmt: skip


async def test_a_persons_budget_and_that_of_all(house: House) -> None:
    ada, ben = house.guest(), house.guest()
    first = await ask(house, ada, "hello q1")
    assert first == "Answer: q1"
    spend(house, 80, ada.id)
    warned = await ask(house, ada, "hello q2")
    assert warned.startswith("Answer: q2\n\n💸 $8")
    assert "of your $100.00 for today is used" in warned
    assert await ask(house, ada, "hello q3") == "Answer: q3"
    spend(house, 30, ada.id)

    before = asked(house)
    said = await house.tg.say(ada, None, "hello q4")
    refused = await house.tg.wait_reply(ada, said)
    assert refused.text == (
        "Your budget of $100.00 for today is used up; I answer again from midnight (Europe/Berlin). "
        "Commands still work."
    )
    assert asked(house) == before
    assert await ask(house, ben, "hello q5") == "Answer: q5"
    assert "Today's budget (since midnight, Europe/Berlin): you $11" in await ask(house, ada, "/usage")
    house.model.rule(None, "Answer: again")
    house.sql(YESTERDAY)
    house.sql(WARNED)
    house.tg.press(ada, None, refused, refused.buttons["↻ Retry"])
    await house.until_said(ada, "Answer: again")
    assert "hello q4" in str(house.model.last.messages[-1])

    spend(house, 1000, 1)
    before = asked(house)
    for chat in (ada, ben):
        assert (await ask(house, chat, "and q6?")).startswith("Today's budget of $1,000.00 is used up; I answer again")
    assert asked(house) == before


async def test_a_digest_is_written_once_for_all_who_ask_and_within_the_budget(house: House) -> None:
    ada = house.guest()
    house.model.rule(
        "Write the digest now", Reply('[{"topic": "Tea", "points": ["Ada likes it."]}]', first_delay=1), model="haiku"
    )
    for number in range(2):
        await ask(house, ada, f"hello q{number}")

    def digests() -> int:
        return sum("Write the digest now" in str(one.messages) for one in house.model.requests)

    for _ in range(30):
        await house.tg.say(ada, None, "/digest now")
    await house.tg.wait_for(lambda: "\n".join(house.said(ada)).count("What the day brought") == 30, timeout=60)
    assert digests() == 1
    await ask(house, ada, "hello q3")
    spend(house, 101, ada.id)
    told = await ask(house, ada, "/digest now")
    assert "Your budget of $100.00 for today is used up" in told
    assert digests() == 1


async def test_an_answer_that_is_stopped_costs_what_was_said_of_it(house: House) -> None:
    ada = house.guest()
    house.model.rule("at length", Reply("word " * 2000, spread=40))
    await house.tg.say(ada, None, "tell me at length")
    await house.tg.wait_for(lambda: any(len(draft["text"]) > 500 for draft in house.tg.drafts(ada)), 30)
    await house.tg.say(ada, None, "/stop")
    await house.until("select exists (select from relay.message where status = 'stopped')", timeout=20)
    ((length, output),) = house.sql(
        "select length(m.text), s.output from relay.message m, relay.spend s"
        " where m.status = 'stopped' and s.what = 'answer'"
    )
    assert 500 < length < 9000
    assert length // 4 <= output <= length


async def test_admins_are_told_of_the_budget_of_all_once_and_of_trouble_until_it_is_over(house: House) -> None:
    olga = house.tg.dm(house.tg.user(OWNER))
    spend(house, 850, 1)
    house.sql(
        "insert into relay.incident (kind, detail, calm_since, told_at)"
        " values ('job backup', 'No room.', now() - interval '5 minutes', now())"
    )
    await look_again(house)
    await house.until_said(olga, "⚠️ $850.00 of today's $1,000.00 are spent")
    await house.until_said(olga, "✅ It is over: The job “backup” failed")
    await look_again(house)
    assert "⚠️ since" in await ask(house, olga, "/status")
    assert "\n".join(house.said(olga)).count("$850.00 of") == 2, "once, and in /status"
    assert "\n".join(house.said(olga)).count("It is over") == 1


async def look_again(house: House) -> None:
    """The sentinel looks when Relay starts, then every minute."""
    looks = "select coalesce(max(seen_at), 'epoch')::text from relay.incident where kind = 'spend'"
    (before,) = house.sql(looks)[0]
    await house.relay.stop()
    await house.again()
    await house.polled()
    await house.until(f"select ({looks}) <> '{before}'", timeout=30)


async def test_another_model_needs_a_price_too(house: House) -> None:
    olga = house.tg.dm(house.tg.user(OWNER))
    await ask(house, olga, "hello q1")
    assert await ask(house, olga, f"/retry {OPUS}") != ""
    told = await ask(house, olga, "/retry claude-none-9")
    assert told.startswith("I don't know what claude-none-9 costs, so I can't keep to the budget with it.")
    assert "RELAY_PRICES" in told
    assert not [one for one in house.model.requests if one.model == "claude-none-9"]


async def test_a_budget_for_a_model_without_a_price_is_refused_at_the_start(tmp_path: Path) -> None:
    for name in ("RELAY_MODEL", "RELAY_SMALL_MODEL"):
        local = {**GOOD, name: "local-7b", "RELAY_DAILY_BUDGET_USD_PER_USER": "1"}
        code, said = await run(tmp_path, local)
        assert (code, len(said.strip().splitlines())) == (2, 1), said
        assert f"relay: {name} is local-7b, whose price is not known" in said
        assert '{"local-7b": {"input": 2, "output": 10}}' in said
    code, said = await run(tmp_path, {**GOOD, "RELAY_PRICES": at_prices(tmp_path, **{"local-7b": -1})})
    assert code == 2
    assert "has -1 for input" in said
