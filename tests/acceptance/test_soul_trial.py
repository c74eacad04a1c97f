"""A soul is tried on real questions before it takes effect, and changes only by a tap."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.shared_bot import SharedBot, World
from tests.acceptance.shared_relay import GUESTS, SharedRelay
from tests.acceptance.test_shell import Shell
from tests.standins.anthropic import Recorded
from tests.standins.telegram import StoredMessage, Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {"RELAY_ADMINS": ",".join(map(str, GUESTS[:40:2]))}
"""Every other person is an admin: of each world, its owner."""
PIRATE = "You are a pirate."


def bot_of(world: World) -> SharedBot:
    return SharedBot(world.tg, world.model, world.relay, Path(world.relay.environment["RELAY_DATA_DIR"]))


def relay_of(world: World) -> SharedRelay:
    return SharedRelay(world.tg, world.model, world.relay, Path(world.relay.environment["RELAY_DATA_DIR"]))


@pytest_asyncio.fixture(loop_scope="module")
async def world(module_world: World) -> AsyncIterator[World]:
    """The file's bot with a new admin and a friend. Afterwards, it has the first soul again."""
    yield module_world
    await bot_of(module_world).ask(module_world.dm, module_world.owner, "/soul restore 1")


KEPT = """select (select count(*) from relay.message), (select count(*) from relay.memory),
    (select count(*) from relay.entry), (select count(*) from relay.turn where kind = 'message'),
    (select max(version) from relay.soul)"""
"""Counts of what is remembered, searched and recorded."""


async def shown(world: World, said: int) -> StoredMessage:
    """Returns the bot's last message with buttons."""
    return await world.tg.wait_for(
        lambda: next((m for m in reversed(world.tg.messages(world.dm)) if m.message_id > said and m.buttons), None)
    )


async def test_a_trial_shows_answers_of_both_souls_and_leaves_no_trace(world: World) -> None:
    bot, shared_relay = bot_of(world), relay_of(world)
    assert "You haven't asked anything here yet" in (await bot.ask(world.dm, world.owner, f"/soul try {PIRATE}")).text
    for number in range(1, 5):
        await bot.ask(world.dm, world.owner, f"question {number}?", f"answer {number}")
    await shared_relay.until("select count(*) = 0 from relay.entry_due")
    before, asked = shared_relay.sql(KEPT), bot.asked
    offer = await bot.ask(world.dm, world.owner, f"/soul try {PIRATE}")
    assert "question 1?" not in offer.text
    assert all(f"question {number}?" in offer.text for number in (2, 3, 4))
    [begin, discard] = offer.buttons
    assert begin.startswith("🧪 Try it (about ")
    assert discard == "✖ Discard"
    assert bot.asked == asked, "the price is shown before any call"
    world.model.rule(lambda request: PIRATE in request.system_text, "Arr! [LEARN: Sails the seas]")
    world.model.rule(lambda request: PIRATE not in request.system_text, "Good day.")
    await bot.press(world.dm, world.owner, offer, "Try it")
    tried = await shown(world, offer.message_id)
    assert tried.text.count("Arr!") == tried.text.count("Good day.") == 3
    assert "LEARN" not in tried.text
    assert list(tried.buttons) == ["✅ Activate", "✖ Discard"]
    assert bot.asked == asked + 6
    assert all(not one.tool_names for one in world.model.requests[-6:])
    last = world.model.requests[-1]
    assert "answer 3" in last.text, "the question is asked with the messages before it"
    assert "question 4?" in last.last_text
    assert shared_relay.sql(KEPT) == before
    spent = "select count(*), sum(output) > 0 from relay.spend where what = 'soul' and user_id = %s"
    assert shared_relay.sql(spent, world.owner.id) == [(6, True)]
    await bot.press(world.dm, world.owner, tried, "Activate")
    assert PIRATE in (await bot.ask(world.dm, world.owner, "/soul")).text


async def test_a_reply_selects_the_question_for_a_trial(world: World) -> None:
    bot = bot_of(world)
    soul = (await bot.ask(world.dm, world.owner, "/soul")).text
    first = await bot.ask(world.dm, world.owner, "how are you?", "well")
    await bot.ask(world.dm, world.owner, "and tomorrow?", "better")
    offer = await bot.ask(world.dm, world.owner, f"/soul try {PIRATE}", reply_to=first)
    assert "how are you?" in offer.text
    assert "and tomorrow?" not in offer.text
    world.model.rule(lambda request: PIRATE in request.system_text, "Arr!")
    await bot.press(world.dm, world.owner, offer, "Try it")
    tried = await shown(world, offer.message_id)
    assert tried.text.count("Arr!") == 1
    await bot.press(world.dm, world.owner, tried, "Discard")
    assert (await bot.ask(world.dm, world.owner, "/soul")).text == soul
    elsewhere = await bot.ask(world.dm, world.owner, "/soul")
    refused = await bot.ask(world.dm, world.owner, f"/soul try {PIRATE}", reply_to=elsewhere)
    assert "That isn't one of your questions" in refused.text


async def test_a_draft_can_be_tried_but_only_by_admins(world: World) -> None:
    bot = bot_of(world)
    await bot.ask(world.dm, world.owner, "how are you?", "well")
    document = Upload(PIRATE.encode(), "soul.md", "text/markdown")
    draft = await bot.ask(world.dm, world.owner, "/soul set", document=document)
    assert "🧪 Try" in draft.buttons
    await bot.press(world.dm, world.owner, draft, "🧪 Try")
    assert "how are you?" in (await shown(world, draft.message_id)).text
    group = world.tg.group(-1_001_000_000_000 - world.owner.id, "Group", [world.owner, world.friend])
    text = await world.tg.say(group, world.owner, PIRATE)
    there = await bot.ask(group, world.owner, f"/soul@{world.tg.bot.username} set", reply_to=text)
    assert await bot.press(group, world.friend, there, "🧪 Try") == "That's for my admins."


async def test_one_failed_answer_of_a_trial_does_not_affect_the_other(world: World) -> None:
    bot = bot_of(world)
    await bot.ask(world.dm, world.owner, "how are you?", "well")
    offer = await bot.ask(world.dm, world.owner, f"/soul try {PIRATE}")
    world.model.fault("refusal", match=lambda request: PIRATE in request.system_text, times=1)
    await bot.press(world.dm, world.owner, offer, "Try it")
    tried = await shown(world, offer.message_id)
    assert "You said: how are you?" in tried.text
    assert "(no answer: the model refused)" in tried.text


async def proposed(world: World, text: str, replaces: str = "") -> StoredMessage:
    """Runs a night in which this is proposed, and its morning. Returns the message with the idea."""
    shared_relay = relay_of(world)
    shared_relay.sql(
        "insert into relay.memory (space_id, kind, content, category, importance)"
        " select id, 'learning', %s, 'identity', 7 from relay.space where owner_id = %s",
        f"Ada wants it so: {text}", world.owner.id,
    )  # fmt: skip

    def answer(request: Recorded) -> str:
        notes = [line.split(":")[0] for line in request.last_text.splitlines() if line.startswith("k")]
        return json.dumps([{"text": text, "replaces": replaces, "because": notes[-1:]}])

    world.model.rule(lambda request: "You look after the soul" in request.system_text, answer, model="haiku", times=1)
    shared_relay.sql("update relay.job set due_at = now() where kind = 'growth'")
    await shared_relay.until("select count(*) > 0 from relay.soul_idea where text = %s", text, timeout=240)
    shared_relay.sql("update relay.outbox set not_before = now() where status = 'queued' and request ? 'idea_id'")
    return await world.tg.wait_for(
        lambda: next((m for m in world.tg.messages(world.dm) if "🌱" in m.text and text in m.text and m.buttons), None),
        timeout=60,
    )


@pytest.mark.asyncio(loop_scope="function")
async def test_a_proposed_change_of_the_soul_waits_for_a_tap(own_world: World) -> None:
    bot, shared_relay = bot_of(own_world), relay_of(own_world)
    await bot.ask(own_world.dm, own_world.owner, "how are you?", "well")
    assert (
        "that's for my admins" in (await bot.ask(own_world.friend_dm, own_world.friend, "/soul grow on")).text.lower()
    )
    assert "Nothing changes without your tap" in (await bot.ask(own_world.dm, own_world.owner, "/soul grow on")).text
    await bot.ask(own_world.dm, own_world.owner, "/soul set You are kind. You are brief.")
    idea = await proposed(own_world, "You use no emoji.")
    assert list(idea.buttons) == ["✅ Accept", "✎ Edit", "🧪 Try", "✖ Dismiss"]
    assert shared_relay.sql("select max(version) from relay.soul") == [(2,)]
    await bot.press(own_world.dm, own_world.owner, idea, "🧪 Try")
    offer = await shown(own_world, idea.message_id)
    assert "how are you?" in offer.text
    await bot.press(own_world.dm, own_world.owner, offer, "Discard")
    assert await bot.press(own_world.dm, own_world.owner, idea, "✅ Accept") == "Accepted."
    assert shared_relay.sql("select text, reason from relay.soul where active") == [
        ("You are kind. You are brief.\nYou use no emoji.", "grown")
    ]
    other = await proposed(own_world, "You answer in lists.", "You are brief.")
    assert "You are brief." in other.text
    assert await bot.press(own_world.dm, own_world.owner, other, "✖ Dismiss") == "I won't propose it again."
    third = await proposed(own_world, "Plain words suit you best.")
    await bot.press(own_world.dm, own_world.owner, third, "✎ Edit")
    copy = await own_world.tg.wait_for(
        lambda: next((m for m in own_world.tg.messages(own_world.dm) if m.text.startswith("✎ soul")), None), timeout=20
    )
    assert "You use no emoji.\nPlain words suit you best." in copy.text
    assert shared_relay.sql("select max(version) from relay.soul") == [(3,)]
    assert shared_relay.sql("select status from relay.soul_idea order by id") == [
        ("accepted",),
        ("dismissed",),
        ("edited",),
    ]
    assert "I don't propose changes" in (await bot.ask(own_world.dm, own_world.owner, "/soul grow off")).text
    assert shared_relay.sql("select count(*) from relay.job where kind = 'growth'") == [(0,)]


@pytest.fixture
def shell(world: World, tmp_path: Path) -> Shell:
    return Shell(world.shell_settings, tmp_path)


async def test_a_trial_in_the_shell_requires_yes(world: World, shell: Shell) -> None:
    bot = bot_of(world)
    await bot.ask(world.dm, world.owner, "how are you?", "well")
    world.model.rule(lambda request: PIRATE in request.system_text, "Arr!")
    offered = await shell("soul", "try", PIRATE, code=1)
    assert "how are you?" in offered
    assert "Add --yes to confirm" in offered
    assert "Arr!" not in offered
    assert "Arr!" in await shell("soul", "try", PIRATE, "--yes")
    done = await shell.json("soul", "try", PIRATE, "--yes", "--json")
    assert [one["tried"] for one in done["answers"]] == ["Arr!"]
    assert PIRATE not in await shell("soul")
