"""Tests rare acts and rare events in the learning of preferences."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC

from relay.conversation.prompt import build_prompt
from relay.core.errors import ModelUnavailable
from relay.core.models import ModelRequest, Step
from relay.memory.store import Store
from relay.surfaces.chat.preferences.pages import card
from tests.integration.conftest import Sql
from tests.integration.test_preference_attribution import Observer, answered, learned, observed, pattern, settled
from tests.integration.test_preference_signals import retried
from tests.integration.test_preference_sql import SHORT, of_ada, said, shown, tagged
from tests.integration.turn_driver import ADA, BEN, BOT, Json, TurnDriver, dm, fact, private


async def test_a_person_who_is_removed_and_returns_keeps_their_preferences(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 1, 'Ada', 'user')", ADA)
    await said(store, "puns")
    await store.revoke(ADA, False, BEN, "Ben")
    assert [row.pattern for row in await of_ada(store)] == ["puns"]
    await store.decide(ADA, ["refused", "blocked"], "user", BEN, "Ben")
    assert await shown(driver) == [("puns", 1, "high")]


async def test_only_one_of_two_processes_settles_an_act(
    driver: TurnDriver, store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    await store.react(BOT.id, ADA, await answered(driver, sql), ADA, ["👍"], 100)
    await settled(sql)
    [first] = await store.claim_jobs("preference", None, 2)
    assert await another().claim_jobs("preference", None, 2) == []
    await sql("update job set lease_until = now() - interval '1 second'")  # the first process hangs
    [second] = await another().claim_jobs("preference", None, 2)
    rows = [{"type": "length", "pattern": "short answers", "polarity": 1, "weight": 0.1, "reinforcing": 0}]
    assert await another().store_observations(second, {"observations": rows, "derivation": {}})
    late = [rows[0] | {"pattern": "humour"}]
    assert not await store.store_observations(first, {"observations": late, "derivation": {}}), (
        "the result comes too late"
    )
    assert await observed(sql) == [("short answers", 1, True)]


async def test_a_reason_given_while_a_choice_is_attributed_counts(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first, newer, _ = await retried(driver)
    act: Json = {"kind": "compare", "about": {"turn_id": newer.turn_id}, "over": first.turn_id, "source": "button"}
    await store.feedback(dm(ADA), ADA, act | {"value": {"chose": "a", "dimensions": []}})
    [(said,)] = await sql("select id::text from feedback where kind = 'compare'")
    [job] = await store.claim_jobs("preference", None, 1, said)
    assert await store.preference_work(job) is not None
    assert await store.choice_reason(private(ADA), ADA, newer.turn_id, "shorter") is not None
    assert not await store.store_observations(job, {"observations": [], "derivation": {}}), (
        "it was read without the reason"
    )
    await settled(sql)
    assert await learned(store, Observer()) == 1
    assert await observed(sql) == [("short answers", 1, True)]


class Away(Observer):
    """A model that cannot be reached."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`."""
        self.asked.append(request)
        raise ModelUnavailable("away")


async def test_acts_wait_while_the_model_is_unavailable_and_tags_still_count(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turns = [(await driver.exchange(ADA, f"Question {number}")).turn.turn_id for number in range(3)]
    await store.react(BOT.id, ADA, await answered(driver, sql), ADA, ["👍"], 100)
    await settled(sql)
    away = Away()
    assert await learned(store, away) == 0
    assert len(away.asked) == 1, "the other jobs must be delayed"
    for turn in turns:
        await tagged(store, turn, SHORT)
    assert await shown(driver) == [("short answers", 1, "medium")]
    await said(store, "puns")
    assert await shown(driver) == [("puns", 1, "high"), ("short answers", 1, "medium")]
    await settled(sql)
    assert await learned(store, Observer(pattern("humour", "tone"))) == 1


class Counting(Observer):
    """A model that counts concurrent requests."""

    now = most = 0

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`."""
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return await super().reply(request, on_text)


async def test_a_thousand_reactions_in_a_minute_are_one_act_per_answer(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    messages = [await answered(driver, sql, text=f"Question {number}") for number in range(10)]
    for round in range(100):
        emojis = [["👍"], ["👎"], [], ["👌", "❤"]][round % 4]
        when = 100 + 10 * round
        await asyncio.gather(
            *(store.react(BOT.id, ADA, message, ADA, emojis, when + n) for n, message in enumerate(messages))
        )
    assert await sql("select kind, count(*) from feedback group by kind order by 1") == [("accept", 10), ("thumbs", 10)]
    assert await sql("select count(*) from job where kind = 'preference'") == [(20,)]
    await settled(sql)
    model = Counting(pattern("short answers"))
    assert await learned(store, model) == 20
    assert (len(model.asked), model.most) == (20, 2)


async def test_memories_stand_beside_preferences_and_are_shown_in_the_card(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "Listen", actions=[fact(ADA, "Wants no Puns in reports"), fact(ADA, "Likes tea")])
    await said(store, "puns")
    exchange = await driver.exchange(ADA, "And now?")
    prompt = build_prompt(exchange.incoming, exchange.context, [], UTC)
    assert "Wants no Puns in reports" in prompt.system[1]["text"]
    assert "Prefer (high): puns" in prompt.system[2]["text"]
    assert "then memory, then how they like answers" in prompt.system[0]["text"]
    [row] = await of_ada(store)
    found = await store.preference_source(private(ADA), ADA, row.id)
    assert found is not None
    assert found.remembered == ("Wants no Puns in reports",)
    assert "**What I remember**\n- Wants no Puns in reports\nIf the two differ" in card(found, 0, UTC).text


async def test_a_prompt_has_the_strongest_preferences_weakened_by_age(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    at = (await driver.exchange(ADA, "Hello")).context
    await sql(
        """
        insert into preference (space_id, user_id, type, pattern, polarity, strength, level, status, reinforced,
            observations, sessions, sureness, last_seen, fold_version)
        select %s, %s, 'other', 'pattern ' || n, 1, case when n %% 3 = 2 then 0 else 1 - n / 200.0 end,
            case when n %% 3 = 2 then 0 else 2 end, 'stable', 2, 1, 1, case when n %% 3 = 2 then 2 + n / 60.0 end,
            now() - interval '1 day' * case when n %% 3 = 1 then 91 when n = 0 then 181 else 1 end, relay.fold_version()
        from generate_series(0, 110) n""",
        at.space_id,
        ADA,
    )
    strength = {
        n: {0: 1 - n / 200, 1: 0.7 * (1 - n / 200), 2: 0.39 + (0.5 + n / 60) / 10}[n % 3] for n in range(1, 111)
    }
    strongest = sorted((n for n in strength if strength[n] >= 0.4), key=lambda n: (-round(strength[n], 4), n))[:60]
    rows = (await driver.exchange(ADA, "And now?")).context.preferences
    assert [row.pattern for row in rows] == [f"pattern {n}" for n in strongest]
    assert {row.level for row in rows if int(row.pattern[8:]) % 3} == {"medium"}


async def test_a_person_told_of_a_preference_is_not_told_again(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await said(store, "charts")
    await sql("delete from preference")
    await sql("select relay.refold_space(id) from space")
    assert [row.new for row in (await driver.exchange(ADA, "And now?")).context.preferences] == [False]
    await sql("delete from preference_decision")
    assert [row.new for row in (await driver.exchange(ADA, "And now?")).context.preferences] == [True]


async def test_a_preference_that_is_learned_again_is_announced_again(store: Store) -> None:
    async def announced(polarity: int = 1) -> bool:
        [row] = (await said(store, "charts", polarity)).acts
        return row.new

    assert await announced()
    assert not await announced()
    [row] = await of_ada(store)
    [gone] = await store.forget_preferences(private(ADA), ADA, [row.id])
    await store.recall_preferences(private(ADA), ADA, [gone.decision_id])
    assert not await announced(), "they were told, and undid the forgetting"
    await store.forget_preferences(private(ADA), ADA, [(await of_ada(store))[0].id])
    assert await announced()
    assert await announced(-1)
    assert await announced(), "it was the opposite meanwhile"
