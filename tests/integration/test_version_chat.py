"""Tests /compress in the chat and in the shell: previews, settings by buttons, files, and refusals."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from relay.commands.contexts.wish import Wish, read_tiers, read_wish
from relay.commands.registry import ADMINS_ONLY
from relay.core.errors import NO_MODEL, CommandRefused, ModelAccountError, ModelUnavailable
from relay.core.models import File, Space
from relay.core.spending.prices import Price, Prices
from relay.jobs.runner import Runner
from relay.jobs.writing import MOST_FAILURES, compression_kind, summary_kind
from relay.memory.spending.budget import Budget
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from relay.surfaces.chat.callbacks import decode, encode
from relay.surfaces.chat.context import ChatContext, CommandMessage
from relay.surfaces.chat.contexts.buttons import ListVersions
from relay.surfaces.chat.contexts.compress import Draft, press_change, press_make
from relay.surfaces.chat.dispatch import hear_answer, press_button, run_command
from relay.surfaces.chat.reply import ButtonReply, CommandReply
from tests.integration.conftest import Sql
from tests.integration.long_session import WEIGHTS, Obedient, compressor_of, long_session
from tests.integration.turn_driver import ADA, BEN, BOT, a_house, group, private, send_queued
from tests.standins.fakes import FakeMessenger


class Phone:
    """One person's chat. Types commands and presses buttons."""

    def __init__(self, store: Store, model: Any, user_id: int = ADA, budget: Budget | None = None) -> None:
        gate = Gate(model, store, *([budget] if budget else []))
        compressor = replace(compressor_of(store, model), gate=gate)
        kinds = [compression_kind(compressor), summary_kind(Summariser(store, gate, "small"))]
        self.runner = Runner(store, kinds)
        prices = Prices({"small": Price(0.1, 0.5, 0.01), "big": Price(4.0, 20.0, 0.2)})
        self.services = replace(
            a_house(store), summariser=Summariser(store, gate, "small"), run_job=self.runner.run_one,
            budget=budget or Budget(prices=prices),
        )  # fmt: skip
        self.store, self.user_id = store, user_id
        self.bot_id = 0
        self.shown: CommandReply | ButtonReply | None = None
        self.chat_id, self.space, self.admin = user_id, private(user_id), False

    @asynccontextmanager
    async def call(self, text: str) -> AsyncIterator[ChatContext]:
        turn = await self.store.begin_command(77, self.chat_id, 0, self.user_id)

        async def sees(space: Space) -> bool:
            return space == self.space

        async def stop() -> bool:
            return False

        yield ChatContext(
            services=self.services, turn=turn, bot_id=self.bot_id, space=self.space, chat_id=self.chat_id, topic_id=0,
            private=self.chat_id > 0, user_id=self.user_id, name="Ada", admin=self.admin, stop=stop, sees=sees,
            text=text, messenger=None, said=CommandMessage(),  # type: ignore[arg-type]
        )  # fmt: skip
        await self.store.store_sent(turn, [], True)

    async def say(self, text: str, command: str = "compress") -> str:
        async with self.call(text) as call:
            self.shown = await run_command(call, command)
        return self.shown.text

    async def answer(self, text: str, word: str, number: int) -> str:
        async with self.call(text) as call:
            self.shown = await hear_answer(call, word, number)
        return self.shown.text

    async def press(self, label: str) -> str:
        assert self.shown is not None
        [data] = [one.callback_data for row in self.shown.rows or () for one in row if one.text == label]
        return await self.press_data(data)

    async def press_data(self, data: str) -> str:
        async with self.call("") as call:
            done = await press_button(call, data)
        if done.text is None and done.says is None:
            return done.toast
        self.shown = done if done.text is not None else self.shown
        self.file = done.says.file if done.says else None
        return done.text or ""

    def buttons(self) -> list[list[str]]:
        assert self.shown is not None
        return [[one.text for one in row] for row in self.shown.rows or ()]


async def test_a_version_is_previewed_made_and_downloaded(store: Store, sql: Sql) -> None:
    await long_session(sql, weights=WEIGHTS[::-1])
    phone = Phone(store, Obedient())
    said = await phone.say("")
    assert "tokens in 450 messages → about 12,000 in 52 (8.4:1)" in said
    assert "📌 Keeps 4 word for word (weight ≥ 0.103 to 0.525, by part), summarises 3." in said
    assert "With the small model, for about $0." in said
    assert phone.buttons() == [["Make it", "Change…"]]
    made = await phone.press("Make it")
    assert made.startswith("✅ **v001&#95;tiered-standard&#95;1")
    assert "📌 4 kept word for word, 3 summarised." in made
    await phone.press("⬇ Text (.md)")
    assert isinstance(phone.file, File)
    assert phone.file.name.startswith("v001_tiered-standard_1")
    text = phone.file.whole().decode()
    assert text.startswith("# v001_tiered-standard_1")
    assert text.count("📌 1.00") == text.count("📌 0.80") == 2
    assert "\n> The answer to number" in text
    await phone.press("⬇ Data (.jsonl)")
    assert isinstance(phone.file, File)
    lines = [json.loads(line) for line in phone.file.whole().decode().splitlines()]
    assert (lines[0]["type"], lines[0]["mode"], lines[0]["tierPreset"]) == ("compression", "tiered", "standard")
    assert lines[0]["stats"]["keepit"] == {
        "preserved": 4, "summarized": 3, "weights": {"1.00": 2, "0.80": 2, "0.50": 2, "0.25": 1},
    }  # fmt: skip
    assert len(lines) - 1 == lines[0]["stats"]["outputMessages"]
    assert sum(line.get("kept", False) for line in lines[1:]) == 4


async def test_making_the_same_version_again_asks_the_model_anew(store: Store, sql: Sql) -> None:
    await long_session(sql, 60, 12_000)
    model = Obedient()
    phone = Phone(store, model)
    for number in (1, 2):
        await phone.say("30:1")
        assert f"**v00{number}&#95;" in await phone.press("Make it")
    assert model.asked[0] in model.asked[1:]


async def test_buttons_change_the_settings_of_a_version(store: Store, sql: Sql) -> None:
    session = await long_session(sql, 60, 12_000)
    phone = Phone(store, Obedient())
    await phone.say("gentle")
    await phone.press("Change…")
    assert phone.buttons()[0] == ["✓ Gentle", "Standard", "Aggressive"]
    await phone.press("30:1")
    assert phone.buttons()[2] == ["Light", "Moderate", "✓ Aggressive"]
    await phone.press("Moderate")
    await phone.press("Keep first 5 as is")
    await phone.press("📌 Keep all")
    said = await phone.press("No model")
    assert "Everything at 30:1, moderate. The first 5 messages don't change." in said
    assert "📌 Keeps 7 word for word, summarises 0." in said
    assert "It costs nothing." in said
    said = await phone.press("Make it")
    assert said.startswith("✅ **v001&#95;uniform-moderate&#95;")
    page = await store.versions(private(ADA), session.id, 0, 1)
    assert page is not None
    assert page.versions[0].settings == {
        "mode": "uniform", "compactionRatio": 30, "aggressiveness": "moderate", "model": "small", "method": "extract",
        "skipFirstMessages": 5, "keepitMode": "preserve-all", "sessionDistance": 1,
    }  # fmt: skip
    said = await phone.press("What was left out")
    assert said.startswith("**Left out** (")
    assert "**1** · " in said
    keep = phone.buttons()[0]
    assert keep == [f"📌 {number}" for number in range(1, 7)]
    marked = await sql("select count(*) from keepit where removed_at is null")
    said = await phone.press("📌 2")
    assert phone.buttons()[0] == [label for label in keep if label != "📌 2"]
    assert said.count("me 📌:") == 1 or said.count("Ada 📌:") == 1
    assert await sql("select count(*) - 1 from keepit where removed_at is null") == marked
    assert await sql("select weight::text from keepit order by id desc limit 1") == [("1.00",)]
    await phone.say("")
    await phone.press("Change…")
    assert phone.buttons()[-2] == ["✓ From all messages", "From v001"]
    assert "Made from v001&#95;uniform-moderate&#95;" in await phone.press("From v001")


async def test_a_version_is_made_without_a_model_while_the_budget_is_used_up(store: Store, sql: Sql) -> None:
    await long_session(sql, 60, 12_000)
    phone = Phone(store, Obedient())
    spent = Budget(total=0.0000001, prices=Prices({"small": Price(1, 1, 1), "big": Price(1, 1, 1)}))
    await phone.say("30:1")
    await phone.press("Make it")
    phone = Phone(store, Obedient(), budget=spent)
    said = await phone.say("")
    assert "⚠️ Today's budget of" in said
    assert phone.buttons()[1] == ["Make it without a model"]
    said = await phone.press("Make it")
    assert said.startswith("Today's budget of")
    assert (await phone.press("Make it without a model")).startswith("✅ **v002&#95;tiered-standard&#95;")


async def test_a_version_is_made_without_a_model_while_it_is_unavailable(store: Store, sql: Sql) -> None:
    await long_session(sql, 60, 12_000)
    model = Obedient()
    model.error = ModelUnavailable()
    phone = Phone(store, model)
    phone.admin = True
    await phone.say("")
    said = await phone.press("Make it")
    assert said.startswith("⚠️ v001 has to wait: The model is not available right now")
    assert (await phone.press("Make it without a model")).startswith("✅ **v001&#95;tiered-standard&#95;")


@pytest.mark.parametrize("admin", [True, False])
async def test_only_those_who_run_relay_see_why_the_model_refuses(store: Store, sql: Sql, admin: bool) -> None:
    await long_session(sql, 60, 12_000)
    model = Obedient()
    model.error = ModelAccountError("Claude refuses the key in ANTHROPIC_API_KEY.")
    phone = Phone(store, model)
    phone.admin = admin
    await phone.say("")
    with capture_logs():  # a traceback with all its values takes two seconds to print
        said = await phone.press("Make it")
        for _ in range(MOST_FAILURES - 1):
            await phone.runner.run_one("compression", "1")
    assert ("API" in said) is admin
    assert (await phone.press("↻ Progress")).startswith(f"⚠️ I couldn't make v001: {NO_MODEL}")


async def test_the_list_of_versions_leads_to_what_one_waits_for(store: Store, sql: Sql) -> None:
    session = (await long_session(sql, 60, 12_000)).id
    model = Obedient()
    model.error = ModelUnavailable()
    phone = Phone(store, model)
    phone.admin = True
    await phone.say("")
    await phone.press("Make it")
    assert "v001** · being made" in await phone.press_data(encode(ListVersions(session)))
    assert phone.buttons() == [["Open v001"], ["‹ Session"]], "what is being made can't be pruned yet"
    assert (await phone.press("Open v001")).startswith("⚠️ v001 has to wait: The model is not available right now")
    assert phone.buttons() == [["Make it without a model"], ["↻ Progress"], ["‹ Versions"]]
    assert (await phone.press("Make it without a model")).startswith("✅ **v001&#95;tiered-standard&#95;")


async def test_in_telegram_a_version_is_made_in_the_background(store: Store, sql: Sql) -> None:
    await long_session(sql, 60, 12_000)
    phone = Phone(store, Obedient())
    phone.bot_id = BOT.id
    await phone.say("")
    assert await phone.press("Make it") == "⏳ I'm making v001. I'll tell you when it's ready."
    assert phone.buttons() == [["↻ Progress"], ["Make it without a model"]]
    await phone.runner.run_due("compression")
    assert (await phone.press("↻ Progress")).startswith("✅ **v001&#95;")
    messenger = FakeMessenger()
    await send_queued(store, messenger)
    ((method, sent),) = messenger.calls
    assert (method, sent["chat_id"], sent["text"][:7]) == ("sendMessage", ADA, "✅ v001_")


REFUSED = [
    ("purple", "I don't understand “purple” here."),
    ("1:1", "A ratio is between 2:1 and 100:1."),
    ("500:1", "A ratio is between 2:1 and 100:1."),
    ("standard light", "“light” needs a ratio: /compress 30:1 light"),
    ("gentle 30:1", "I don't understand “30:1” here."),
    ("standard 99", "There's no session with that number. /sessions lists them."),
    ("standard #99", "There's no session with that id here."),
]


@pytest.mark.parametrize(("words", "why"), REFUSED)
async def test_a_wrong_command_is_explained(store: Store, sql: Sql, words: str, why: str) -> None:
    await long_session(sql, 20, 4_000)
    phone = Phone(store, Obedient())
    async with phone.call(words) as call:
        done = await run_command(call, "compress")
    assert done.refused
    assert why.replace("/", "&#47;") in done.text or why in done.text
    assert await sql("select count(*) from compression") == [(0,)]


async def test_compress_says_that_there_is_nothing_to_compress(store: Store) -> None:
    assert "There's nothing to compress" in await Phone(store, Obedient()).say("")


async def test_an_older_session_is_selected_by_its_number(store: Store, sql: Sql) -> None:
    old = await long_session(sql, 20, 4_000)
    await long_session(sql, 40, 8_000)
    phone = Phone(store, Obedient())
    assert "in 40 messages" in await phone.say("")
    assert "in 20 messages" in await phone.say("gentle 2")
    assert "in 20 messages" in await phone.press_data(f"oc:{old.id}:0")


async def test_in_a_group_only_admins_make_versions(store: Store, sql: Sql) -> None:
    session = await long_session(sql, 20, 4_000)
    await sql("update space set kind = 'group', owner_id = null, chat_id = -5")
    await sql("update thread set chat_id = -5")
    phone = Phone(store, Obedient(), BEN)
    phone.chat_id, phone.space = -5, group(-5)
    assert "Only my admins can make it here." in await phone.say("")
    assert phone.buttons() == []
    forged = encode(press_make(session.id, Draft()))
    assert await phone.press_data(forged) == ADMINS_ONLY
    phone.admin = True
    assert (await phone.press_data(forged)).startswith("✅")


async def test_another_persons_session_is_not_shown(store: Store, sql: Sql) -> None:
    session = await long_session(sql, 20, 4_000)
    phone = Phone(store, Obedient(), BEN)
    for data in (f"oc:{session.id}:0", encode(press_make(session.id, Draft()))):
        assert "There's nothing to compress" in await phone.press_data(data)
    made = await store.make_version(private(ADA), session.id, ADA, Draft(method="extract").settings().as_json())
    for code in ("lh", "ln", "lf"):
        assert await phone.press_data(f"{code}:{made}") == "This is gone, or not yours to see."


def test_a_draft_is_read_back_from_its_button() -> None:
    for draft in (
        Draft(), Draft(preset=None, ratio=100, level="moderate", skip=10_000, keepit="preserve-all", model="big",
                       method="extract", source=10**12),
        Draft(preset="gentle", keepit="ignore"), Draft(preset=None, ratio=30),
    ):  # fmt: skip
        data = encode(press_change(10**12, draft))
        assert decode(data) == press_change(10**12, draft)
    for forged in ("", "s", "z.0.d.s.m.0", "1.0.d.s.m.0", "30x.0.d.s.m.0", "s.-1.d.s.m.0", "s.0.q.s.m.0", "s.0.d.s.m"):
        assert Draft.decode(forged) is None, forged


def test_command_words_are_read_as_settings() -> None:
    assert read_wish("") == Wish()
    assert read_wish("Aggressive") == Wish(preset="aggressive")
    assert read_wish("30:1 aggressive 3") == Wish(ratio=30, level="aggressive", session="3")
    assert read_wish("30:1 minimal") == Wish(ratio=30, level="light")
    assert [tier.as_json() for tier in read_tiers("25=25:1, 100=3:1 moderate")] == [
        {"endPercent": 25, "compactionRatio": 25, "aggressiveness": "aggressive"},
        {"endPercent": 100, "compactionRatio": 3, "aggressiveness": "moderate"},
    ]
    for wrong in ("25=25:1", "50=3:1, 25=3:1, 100=3:1", "x", "100=1:1", "100=5:1 odd"):
        with pytest.raises(CommandRefused):
            read_tiers(wrong)


async def test_a_deleted_version_is_refused_as_a_source(store: Store, sql: Sql) -> None:
    session = await long_session(sql, 20, 4_000)
    phone = Phone(store, Obedient())
    said = await phone.press_data(encode(press_change(session.id, Draft(source=99))))
    assert said == "This session has no such version to start from, or it isn't ready."
