"""The daily budget: one warning, then a line instead of an answer, and answers again the next day."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.acceptance.test_settings_errors import GOOD, run
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
YESTERDAY = "update relay.spend set at = at - interval '1 day'"
WARNED = "update relay.budget_warning set told_at = told_at - interval '1 day'"


def at_prices(folder: Path, **dollars: float) -> str:
    """Writes a file with prices per million input tokens. Output is free."""
    file = folder / "prices.json"
    file.write_text(json.dumps({model: {"input": price, "output": 0} for model, price in dollars.items()}))
    return str(file)


@pytest.fixture
async def shared_relay(tmp_path: Path) -> AsyncIterator[SharedRelay]:
    """A bot whose model costs a thousandth of a dollar per token, so a question costs dollars."""
    prices = at_prices(tmp_path, **{SONNET: 1000.0, HAIKU: 0.0})
    async with open_relay(
        RELAY_PRICES=prices, RELAY_DAILY_BUDGET_USD="1000", RELAY_DAILY_BUDGET_USD_PER_USER="100"
    ) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


async def ask(shared_relay: SharedRelay, chat: Chat, text: str) -> str:
    """Returns the bot's reply to a message."""
    said = await shared_relay.tg.say(chat, None, text)
    return (await shared_relay.tg.wait_reply(chat, said, timeout=30)).text


def asked(shared_relay: SharedRelay) -> int:
    """Counts the requests to the big model."""
    return sum(one.model == SONNET for one in shared_relay.model.requests)


def spend(shared_relay: SharedRelay, dollars: float, user_id: int) -> None:
    """Adds today's spending of this amount for a user."""
    shared_relay.sql(
        "insert into relay.spend (id, what, done, user_id, model, input)"
        " values (gen_random_uuid(), 'answer', true, %s, %s, %s)",
        user_id, SONNET, int(dollars * 1000),
    )  # fmt: skip


async def test_budgets_per_person_and_in_total_warn_first_and_then_refuse(shared_relay: SharedRelay) -> None:
    ada, ben = shared_relay.guest(), shared_relay.guest()
    first = await ask(shared_relay, ada, "hello q1")
    assert first == "Answer: q1"
    spend(shared_relay, 80, ada.id)
    warned = await ask(shared_relay, ada, "hello q2")
    assert warned.startswith("Answer: q2\n\n💸 $8")
    assert "of your $100.00 for today is used" in warned
    assert await ask(shared_relay, ada, "hello q3") == "Answer: q3"
    spend(shared_relay, 30, ada.id)

    before = asked(shared_relay)
    said = await shared_relay.tg.say(ada, None, "hello q4")
    refused = await shared_relay.tg.wait_reply(ada, said)
    assert refused.text == (
        "Your budget of $100.00 for today is used up; I'll answer again from midnight (Europe/Berlin). "
        "Commands still work."
    )
    assert asked(shared_relay) == before
    assert await ask(shared_relay, ben, "hello q5") == "Answer: q5"
    assert "Today's budget (since midnight, Europe/Berlin): you $11" in await ask(shared_relay, ada, "/usage")
    shared_relay.model.rule(None, "Answer: again")
    shared_relay.sql(YESTERDAY)
    shared_relay.sql(WARNED)
    shared_relay.tg.press(ada, None, refused, refused.buttons["↻ Retry"])
    await shared_relay.until_said(ada, "Answer: again")
    assert "hello q4" in str(shared_relay.model.last.messages[-1])

    spend(shared_relay, 1000, 1)
    before = asked(shared_relay)
    for chat in (ada, ben):
        assert (await ask(shared_relay, chat, "and q6?")).startswith(
            "Today's budget of $1,000.00 is used up; I'll answer again"
        )
    assert asked(shared_relay) == before


async def test_repeated_digest_requests_cost_one_call_and_respect_the_budget(shared_relay: SharedRelay) -> None:
    ada = shared_relay.guest()
    shared_relay.model.rule(
        "Write the digest now", Reply('[{"topic": "Tea", "points": ["Ada likes it."]}]', first_delay=1), model="haiku"
    )
    for number in range(2):
        await ask(shared_relay, ada, f"hello q{number}")

    def digests() -> int:
        return sum("Write the digest now" in str(one.messages) for one in shared_relay.model.requests)

    for _ in range(30):
        await shared_relay.tg.say(ada, None, "/digest now")
    await shared_relay.tg.wait_for(
        lambda: "\n".join(shared_relay.said(ada)).count("What the day brought") == 30, timeout=60
    )
    assert digests() == 1
    await ask(shared_relay, ada, "hello q3")
    spend(shared_relay, 101, ada.id)
    told = await ask(shared_relay, ada, "/digest now")
    assert "Your budget of $100.00 for today is used up" in told
    assert digests() == 1


async def test_a_stopped_answer_costs_only_the_tokens_it_produced(shared_relay: SharedRelay) -> None:
    ada = shared_relay.guest()
    shared_relay.model.rule("at length", Reply("word " * 2000, spread=40))
    await shared_relay.tg.say(ada, None, "tell me at length")
    await shared_relay.tg.wait_for(lambda: any(len(draft["text"]) > 500 for draft in shared_relay.tg.drafts(ada)), 30)
    await shared_relay.tg.say(ada, None, "/stop")
    await shared_relay.until("select exists (select from relay.message where status = 'stopped')", timeout=20)
    ((length, output),) = shared_relay.sql(
        "select length(m.text), s.output from relay.message m, relay.spend s"
        " where m.status = 'stopped' and s.what = 'answer'"
    )
    assert 500 < length < 9000
    assert length // 4 <= output <= length


async def test_admins_get_one_warning_of_the_total_budget_and_the_end_of_alerts(shared_relay: SharedRelay) -> None:
    olga = shared_relay.tg.dm(shared_relay.tg.user(OWNER))
    spend(shared_relay, 850, 1)
    shared_relay.sql(
        "insert into relay.incident (kind, detail, calm_since, told_at)"
        " values ('job backup', 'No room.', now() - interval '5 minutes', now())"
    )
    await look_again(shared_relay)
    await shared_relay.until_said(olga, "⚠️ $850.00 of today's $1,000.00 has been spent")
    await shared_relay.until_said(olga, "✅ It's over: The job “backup” failed")
    await look_again(shared_relay)
    assert "⚠️ since" in await ask(shared_relay, olga, "/status")
    assert "\n".join(shared_relay.said(olga)).count("$850.00 of") == 2, "one warning, and one line in /status"
    assert "\n".join(shared_relay.said(olga)).count("It's over") == 1


async def look_again(shared_relay: SharedRelay) -> None:
    """Restarts Relay, since alerts check when it starts and then every minute."""
    looks = "select coalesce(max(seen_at), 'epoch')::text from relay.incident where kind = 'spend'"
    (before,) = shared_relay.sql(looks)[0]
    await shared_relay.relay.stop()
    await shared_relay.again()
    await shared_relay.polled()
    await shared_relay.until(f"select ({looks}) <> '{before}'", timeout=30)


async def test_retry_refuses_a_model_without_a_known_price(shared_relay: SharedRelay) -> None:
    olga = shared_relay.tg.dm(shared_relay.tg.user(OWNER))
    await ask(shared_relay, olga, "hello q1")
    assert await ask(shared_relay, olga, f"/retry {OPUS}") != ""
    told = await ask(shared_relay, olga, "/retry claude-none-9")
    assert told.startswith("I don't know what claude-none-9 costs, so I can't keep to the budget with it.")
    assert "RELAY_PRICES" in told
    assert not [one for one in shared_relay.model.requests if one.model == "claude-none-9"]


async def test_startup_refuses_a_budget_if_a_model_has_no_known_price(tmp_path: Path) -> None:
    for name in ("RELAY_MODEL", "RELAY_SMALL_MODEL"):
        local = {**GOOD, name: "local-7b", "RELAY_DAILY_BUDGET_USD_PER_USER": "1"}
        code, said = await run(tmp_path, local)
        assert (code, len(said.strip().splitlines())) == (2, 1), said
        assert f"relay: {name} is local-7b, whose price is unknown" in said
        assert '{"local-7b": {"input": 2, "output": 10}}' in said
    code, said = await run(tmp_path, {**GOOD, "RELAY_PRICES": at_prices(tmp_path, **{"local-7b": -1})})
    assert code == 2
    assert "has -1 for input" in said
