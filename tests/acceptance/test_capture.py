"""Automatic capture: the bot remembers what somebody mentions without being asked and says so in the line under the
answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.shared_bot import SESSION, World
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import Recorded, tool
from tests.standins.anthropic.server import JUDGE, SETTLE
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = dict[str, Any]
SETTINGS = {"RELAY_CAPTURE": "auto"}
AUTO = pytest.mark.settings(**SETTINGS)
OWN = pytest.mark.asyncio(loop_scope="function")
MOVED = "I moved to Lisbon last week, and the light here is wonderful in the evenings."
KEPT = "Ada lives in Lisbon since November."


@pytest_asyncio.fixture(loop_scope="module")
async def world(module_world: World, module_relay: SharedRelay) -> AsyncIterator[World]:
    """The file's bot with two new people. Afterwards, nothing waits to be judged, which would reach the next test."""
    yield module_world
    await module_relay.until(
        "with waiting as (delete from relay.job where kind = 'judging' and lease_owner is null)"
        " select not exists (select from relay.job where kind = 'judging' and lease_owner is not null)"
    )


def finds(world: World, words: str, sentence: str, times: int | None = None, **more: Any) -> None:
    """Makes the judge find this in the person's message with these words."""

    def found(request: Recorded) -> Any:
        said = request.last_text.partition("To be judged:")[2]
        ids = [part.partition('"')[0] for part in said.split('<said id="')[1:] if words in part]
        finding = {"kind": "fact", "importance": 7, "sentence": sentence, "evidence": [int(ids[0])]} | more
        return tool("keep", {"findings": [finding]})

    world.model.rule(
        lambda request: words in request.last_text.partition("To be judged:")[2], found, times=times, model=JUDGE
    )


async def says(
    world: World, text: str, answer: str, chat: Chat | None = None, user: User | None = None
) -> StoredMessage:
    """Sends a message and returns the answer."""
    world.model.rule(lambda request: text in request.user_turn()[0], answer, times=1)
    said = await world.tg.say(chat or world.dm, user or world.owner, text)
    return await world.tg.wait_reply(chat or world.dm, said, timeout=30)


async def told(world: World, answer: StoredMessage, words: str) -> StoredMessage:
    """Waits until the line under an answer holds these words. Returns that answer."""

    def now() -> StoredMessage | None:
        found = next(one for one in world.tg.messages(world.dm) if one.message_id == answer.message_id)
        return found if words in found.text else None

    return await world.tg.wait_for(now, timeout=30)


async def press(world: World, message: StoredMessage, label: str) -> None:
    """Presses a button of a message."""
    await world.tg.tap(world.dm, world.owner, message, label)


async def known(world: World) -> str:
    said = await world.tg.say(world.dm, world.owner, "/memory")
    return (await world.tg.wait_reply(world.dm, said, timeout=30)).text


def judged(world: World) -> list[Recorded]:
    return world.model.asides_of(JUDGE)


async def test_a_mentioned_fact_is_kept_shown_under_the_answer_and_can_be_undone(world: World) -> None:
    finds(world, "Lisbon", KEPT)
    answer = await says(world, MOVED, "How lovely!")
    shown = await told(world, answer, f"🧠 Learned: {KEPT}")
    assert shown.text == f"How lovely!\n\n🧠 Learned: {KEPT}"
    assert len([one for one in world.tg.messages(world.dm) if one.from_bot]) == 1, "the line is part of the answer"
    (request,) = judged(world)
    assert request.body["tool_choice"] == {"type": "tool", "name": "keep"}
    assert KEPT in await known(world)
    await press(world, shown, "Undo / Edit")
    opened = await world.tg.wait_for(
        lambda: next((one for one in world.tg.messages(world.dm)
            if one.message_id == answer.message_id and any("↩ Undo:" in name for name in one.buttons)), None),
        timeout=30,
    )  # fmt: skip
    await press(world, opened, "↩ Undo:")
    assert KEPT not in await known(world)


async def test_a_captured_fact_extends_an_existing_learned_line(world: World) -> None:
    finds(world, "Lisbon", "Ada loves the light of the evenings.")
    answer = await says(world, MOVED, f"How lovely! [LEARN: {KEPT}]")
    shown = await told(world, answer, "evenings.")
    assert shown.text == f"How lovely!\n\n🧠 Learned: {KEPT} · 🧠 Learned: Ada loves the light of the evenings."
    assert KEPT in judged(world)[0].last_text, "the judge sees the facts that the answer kept"
    assert list(shown.buttons) == ["↩ Undo / Edit…", "◆ Keep this"]


async def test_a_fact_that_contradicts_an_older_memory_replaces_it(world: World) -> None:
    await says(world, "Berlin is where I live", "Noted [LEARN: Ada lives in Berlin.]")
    finds(world, "Lisbon", KEPT)

    def decide(request: Recorded) -> Any:
        line = next(line for line in request.last_text.splitlines() if "Berlin" in line)
        return tool("settle", {"decisions": [{"new": 1, "is": "contradicts", "known": int(line.split()[0])}]})

    world.model.rule("Berlin", decide, model=SETTLE)
    answer = await says(world, MOVED, "How lovely!")
    await told(world, answer, KEPT)
    now = await known(world)
    assert KEPT in now
    assert "Berlin" not in now


@SESSION
async def test_a_remembered_fact_replaces_the_one_that_it_contradicts(shared_world: World) -> None:
    async def remember(fact: str) -> str:
        said = await shared_world.tg.say(shared_world.dm, shared_world.owner, f"/remember {fact}")
        return (await shared_world.tg.wait_reply(shared_world.dm, said, timeout=30)).text

    def decide(request: Recorded) -> Any:
        line = next(line for line in request.last_text.splitlines() if "Berlin" in line)
        return tool("settle", {"decisions": [{"new": 1, "is": "contradicts", "known": int(line.split()[0])}]})

    assert await remember("I live in Berlin") == "🧠 Learned: I live in Berlin"
    assert await remember("I keep bees") == "🧠 Learned: I keep bees", "without a decision, both are kept"
    shared_world.model.rule("I moved to Lisbon", decide, model=SETTLE)
    assert await remember("I moved to Lisbon") == "🧠 Updated: I moved to Lisbon (was: I live in Berlin)"
    now = await known(shared_world)
    assert "I keep bees" in now
    assert "I moved to Lisbon" in now
    assert "Berlin" not in now
    await says(shared_world, "Where am I?", "In Lisbon.")
    assert re.search(r"\n- I moved to Lisbon \(said \d{4}-\d\d-\d\d\)", shared_world.model.last.system_text)
    asked = len(shared_world.model.requests)
    await shared_world.tg.wait_reply(
        shared_world.dm, await shared_world.tg.say(shared_world.dm, shared_world.owner, "/memory pause 1h"), timeout=30
    )
    shared_world.model.rule("I moved to Porto", decide, model=SETTLE)
    assert "Learned" not in (refused := await remember("I moved to Porto"))
    assert "Updated" not in refused
    assert len(shared_world.model.requests) == asked, "what isn't stored is read by no model"


@OWN
@pytest.mark.settings(RELAY_CAPTURE="ask")
async def test_in_ask_mode_capture_proposes_keep_or_discard(own_world: World) -> None:
    finds(own_world, "Lisbon", KEPT)
    answer = await says(own_world, MOVED, "How lovely!")
    shown = await told(own_world, answer, "Waiting for your tap")
    assert KEPT not in (await known(own_world)).replace("waits", "")
    await press(own_world, shown, "Keep or discard")
    opened = await own_world.tg.wait_for(
        lambda: next((one for one in own_world.tg.messages(own_world.dm)
            if one.message_id == answer.message_id and any("✅ Keep" in name for name in one.buttons)), None),
        timeout=30,
    )  # fmt: skip
    await press(own_world, opened, "✅ Keep")
    assert KEPT in await known(own_world)


@OWN
@pytest.mark.settings(RELAY_CAPTURE="off")
async def test_with_capture_off_not_even_a_tag_teaches(own_world: World) -> None:
    answer = await says(own_world, MOVED, f"How lovely! [LEARN: {KEPT}]")
    assert "Learning is off" in answer.text
    assert KEPT not in await known(own_world)
    assert judged(own_world) == []


async def test_a_kill_while_judging_neither_loses_nor_doubles_a_memory(world: World) -> None:
    finds(world, "Lisbon", KEPT)
    world.model.fault("hang", times=1, model=JUDGE)
    answer = await says(world, MOVED, "How lovely!")
    await world.tg.wait_for(lambda: judged(world), timeout=30)
    await world.relay.kill()
    await world.relay.start()
    await told(world, answer, KEPT)
    await world.relay.kill()
    await world.relay.start()
    assert (await known(world)).count(KEPT) == 1
    assert len(judged(world)) == 2
    edited = next(one for one in world.tg.messages(world.dm) if one.message_id == answer.message_id)
    assert edited.text.count(KEPT) == 1


async def test_capture_waits_for_a_busy_judge_without_delaying_answers(world: World) -> None:
    finds(world, "Lisbon", KEPT)
    world.model.fault("429", times=2, model=JUDGE, retry_after=1)
    answer = await says(world, MOVED, "How lovely!")
    await says(world, "how are you", "Fine.")
    await told(world, answer, KEPT)
    assert len(judged(world)) >= 3


@OWN
@AUTO
async def test_keywords_capture_facts_until_the_judge_is_available_again(own_world: World) -> None:
    own_world.model.fault("401", times=2, model=JUDGE)
    answer = await says(own_world, MOVED, "How lovely!")
    await told(own_world, answer, "“I moved to Lisbon last week")
    finds(own_world, "Lisbon", KEPT)
    finds(own_world, "Porto", "Ada has a cat in Porto.")
    own_world.model.faults.clear()
    other = await says(own_world, "My cat still lives in Porto with my sister, for now at least.", "Poor cat.")
    await told(own_world, other, "Porto.")
    shown = await told(own_world, answer, KEPT)
    assert "“" not in shown.text, "the line shows the judge's wording"
    now = await known(own_world)
    assert "“I moved" not in now
    assert now.count("Lisbon") == 1


async def test_if_the_answer_was_deleted_the_learned_line_is_sent_once(world: World) -> None:
    gate = asyncio.Event()

    async def later(request: Recorded) -> Any:
        await gate.wait()
        ids = request.last_text.partition("To be judged:")[2].split('<said id="')[1].partition('"')[0]
        finding = {"kind": "fact", "importance": 7, "sentence": KEPT, "evidence": [int(ids)]}
        return tool("keep", {"findings": [finding]})

    world.model.rule("Lisbon", later, model=JUDGE)
    answer = await says(world, MOVED, "How lovely!")
    await world.tg.wait_for(lambda: judged(world), timeout=30)
    world.tg.delete(world.dm, answer)
    gate.set()
    line = await world.tg.wait_for(
        lambda: next((one for one in world.tg.messages(world.dm) if one.from_bot and KEPT in one.text), None),
        timeout=30,
    )
    assert line.text == f"🧠 Learned: {KEPT}"
    assert any("Undo" in name for name in line.buttons)
    await says(world, "and now", "Fine.")
    assert len([one for one in world.tg.messages(world.dm) if KEPT in one.text]) == 1


async def test_a_fact_from_forwarded_text_waits_for_a_tap(world: World) -> None:
    finds(world, "dentist", "Ada has a dentist's appointment on 3 May.", kind="event")
    text = "Your appointment at the dentist is on the third of May at nine in the morning."
    world.model.rule(lambda request: "dentist" in request.text, "A reminder.", times=1)
    said = await world.tg.say(world.dm, world.owner, text, forward_from=world.friend)
    answer = await world.tg.wait_reply(world.dm, said, timeout=30)
    await told(world, answer, "Waiting for your tap")
    assert '<untrusted kind="shown">' in judged(world)[0].last_text
