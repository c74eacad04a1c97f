"""A turn that runs again after a crash replaces what its first try did to reminders."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import pytest

from relay.core.errors import ModelRefused
from relay.core.models import ModelRequest
from relay.surfaces.telegram.turns.notices import APOLOGY
from relay.surfaces.telegram.turns.worker import KILLED
from tests.integration.conftest import Server
from tests.integration.inside import Inside, Json, inside
from tests.integration.turn_driver import ADA, EVE

ACTIVE = (
    "select text from reminder where status = 'active'"
    " union all select text from standing_intent where status = 'active' order by text"
)


class Script:
    """Answers the model's requests in turn, each with blocks or an exception."""

    def __init__(self) -> None:
        self.steps: list[Json | Exception] = []

    def __call__(self, request: ModelRequest) -> list[Json]:
        step = self.steps.pop(0) if self.steps else {"type": "text", "text": "Done."}
        if isinstance(step, Exception):
            raise step
        return [step]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def relay(embedded: Server, script: Script) -> AsyncIterator[Inside]:
    async with inside(embedded, script, frozenset([EVE]), frozenset([ADA])) as opened:
        opened.tg.dm(opened.tg.user(ADA, "Ada"))
        opened.tg.dm(opened.tg.user(EVE, "Eve"))
        yield opened


def tool(name: str, **given: object) -> Json:
    return {"type": "tool_use", "id": f"t{next(numbers)}", "name": name, "input": given}


numbers = itertools.count(1)


async def run_to_end(relay: Inside) -> None:
    """Waits until all turns have ended; failed ones run again at once."""
    settled = asyncio.create_task(relay.settled())
    while not settled.done():
        await relay.sql("update turn set not_before = now() where status = 'working' and lease_owner is null")
        await relay.worker.claim()
        await asyncio.sleep(0.02)
    await settled


async def until(relay: Inside, query: str) -> None:
    """Waits until a query returns true."""
    async with asyncio.timeout(20):
        while await relay.sql(query) != [(True,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def crash_once(on: str) -> Callable[[str, Json], None]:
    """Returns a watch that fails the first call of a method."""
    crashes = iter([RuntimeError("the process dies")])

    def crash(method: str, parameters: Json) -> None:
        if method == on and (error := next(crashes, None)):
            raise error

    return crash


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"text": "Call the dentist", "at": "2031-03-01T18:00"},
            {"text": "Ring the dentist up", "at": "2031-03-01T18:00"},
        ),
        (
            {"text": "Ask about the roof", "mention": "the house"},
            {"text": "Ask whether the roof leaks", "mention": "the house"},
        ),
    ],
)
async def test_an_answer_written_anew_keeps_only_what_it_set_itself(
    relay: Inside, script: Script, first: Json, second: Json
) -> None:
    script.steps = [
        tool("set_reminder", **first), RuntimeError("the process dies"), tool("set_reminder", **second),
    ]  # fmt: skip
    await relay.tg.say(ADA, ADA, "remind me")
    await run_to_end(relay)
    assert await relay.sql(ACTIVE) == [(second["text"],)]
    script.steps = [tool("set_reminder", **first)]
    await relay.tg.say(ADA, ADA, "and of that one, too")
    await run_to_end(relay)
    assert await relay.sql(ACTIVE) == [(first["text"],), (second["text"],)]


@pytest.mark.parametrize(
    "steps",
    [
        [("change_reminder", {"text": "Ring the dentist up", "at": "2031-05-01T18:00", "rrule": ""})],
        [("delete_reminder", {})],
        [("change_reminder", {"text": "Ring the dentist up"}), ("delete_reminder", {})],
    ],
)
async def test_an_answer_written_anew_finds_reminders_as_they_were(
    relay: Inside, script: Script, steps: list[tuple[str, Json]]
) -> None:
    await relay.tg.say(ADA, ADA, "/remind every day 18:00 call the dentist")
    await relay.settled()
    as_it_was = "select to_jsonb(r) from reminder r"
    [(before,)] = await relay.sql(as_it_was)
    done = [tool(name, id=before["id"], **given) for name, given in steps]
    script.steps = [*done, RuntimeError("the process dies"), {"type": "text", "text": "Which one?"}]
    await relay.tg.say(ADA, ADA, "the dentist, you know")
    await run_to_end(relay)
    assert await relay.sql(as_it_was) == [(before,)]
    assert await relay.sql("select count(*) from job where kind = 'reminder'") == [(1,)]
    assert await relay.sql("select count(*) from turn where prompt ? 'former'") == [(0,)]
    script.steps = [done[-1]]
    await relay.tg.say(ADA, ADA, "yes")
    await run_to_end(relay)
    [(after,)] = await relay.sql(as_it_was)
    assert (after["text"], after["status"]) != (before["text"], before["status"])


async def test_a_reminder_changed_by_a_button_since_stays_changed(relay: Inside, script: Script) -> None:
    made = await relay.tg.say(ADA, ADA, "/remind in 1 day at 9:00 tea")
    await relay.settled()
    made = next(one for one in relay.tg.messages(ADA) if one.from_bot)
    [(number,)] = await relay.sql("select id from reminder")
    script.steps = [tool("change_reminder", id=number, text="coffee"), RuntimeError("the process dies")]
    await relay.tg.say(ADA, ADA, "coffee instead")
    await until(relay, "update turn set not_before = now() + interval '50 seconds' where failures = 1 returning true")
    relay.tg.press(ADA, ADA, made, made.buttons["1 h later"])
    await until(relay, "select extract(hour from next_at) = 10 from reminder")
    await run_to_end(relay)
    [(text, at)] = await relay.sql("select text, extract(hour from next_at)::int from reminder")
    assert (text, at) == ("coffee", 10)


async def test_an_answer_written_anew_finds_mentions_as_they_were(relay: Inside, script: Script) -> None:
    mention = {"mention": "the house"}
    script.steps = [tool("set_reminder", text="Ask about the roof", **mention)]
    await relay.tg.say(ADA, ADA, "remind me")
    await run_to_end(relay)
    delete, dies = tool("delete_reminder", **mention), RuntimeError("the process dies")
    script.steps = [delete, tool("set_reminder", text="Ask about the door", **mention), dies]
    await relay.tg.say(ADA, ADA, "no longer")
    await run_to_end(relay)
    assert await relay.sql(ACTIVE) == [("Ask about the roof",)]
    script.steps = [delete, dies, delete]
    await relay.tg.say(ADA, ADA, "no longer")
    await run_to_end(relay)
    assert await relay.sql(ACTIVE) == []
    assert await relay.sql("select count(*) from turn where prompt ? 'former'") == [(0,)]


async def test_a_turn_that_ended_its_process_each_time_is_set_aside_without_another_try(
    relay: Inside, script: Script
) -> None:
    script.steps = [RuntimeError("it fails once")]
    await relay.tg.say(ADA, ADA, "poison")
    await until(relay, "update turn set killed = 25, not_before = now() where failures = 1 returning true")
    await run_to_end(relay)
    await relay.tg.wait_for(lambda: all(any(one.from_bot for one in relay.tg.messages(who)) for who in (ADA, EVE)))
    assert [one.text for one in relay.tg.messages(ADA) if one.from_bot] == [APOLOGY]
    [told] = [one.text for one in relay.tg.messages(EVE) if one.from_bot]
    assert told.endswith("was set aside after failing five times: " + KILLED)


@pytest.mark.parametrize("error", [ModelRefused(), RuntimeError("it fails each time")])
async def test_a_turn_without_an_answer_sets_nothing(relay: Inside, script: Script, error: Exception) -> None:
    """The person is told that it failed, and asks again."""
    await relay.tg.say(ADA, ADA, "/remind in 1 day at 9:00 tea")
    await relay.settled()
    [(number,)] = await relay.sql("select id from reminder")
    dentist = {"text": "Call the dentist", "at": "2031-03-01T18:00"}
    script.steps = [tool("set_reminder", **dentist), tool("delete_reminder", id=number), error] * 3
    await relay.tg.say(ADA, ADA, "remind me")
    await run_to_end(relay)
    assert await relay.sql(ACTIVE) == [("tea",)]


async def test_a_line_says_that_a_change_was_withdrawn(relay: Inside, script: Script) -> None:
    script.steps = [tool("set_reminder", text="Tea", at="2031-03-01T18:00")]
    await relay.tg.say(ADA, ADA, "remind me")
    await run_to_end(relay)
    shown = next(one for one in relay.tg.messages(ADA) if one.from_bot)
    [(number,)] = await relay.sql("select id from reminder")
    script.steps = [tool("change_reminder", id=number, text="Coffee"), RuntimeError("it fails"), ModelRefused()]
    await relay.tg.say(ADA, ADA, "coffee instead")
    await until(relay, "update turn set not_before = now() + interval '50 seconds' where failures = 1 returning true")
    await relay.tg.wait_for(lambda: shown.text.endswith(": Coffee"))
    await run_to_end(relay)
    await relay.tg.wait_for(lambda: shown.text.endswith(": Tea"))
    await relay.settled()


async def test_a_button_that_runs_again_moves_its_reminder_once(relay: Inside) -> None:
    made = await relay.tg.say(ADA, ADA, "/remind in 1 day at 9:00 tea")
    await relay.settled()
    made = next(one for one in relay.tg.messages(ADA) if one.from_bot)
    relay.wire.watch = crash_once("editMessageText")
    relay.tg.press(ADA, ADA, made, made.buttons["1 h later"])
    await run_to_end(relay)
    assert made.text == "⏰ tea\ntomorrow 10:00"


async def test_a_memory_that_a_button_forgot_is_shown_as_forgotten_when_it_is_pressed_again(relay: Inside) -> None:
    await relay.tg.say(ADA, ADA, "/remember Ada likes tea")
    await relay.settled()
    await relay.tg.say(ADA, ADA, "/memory 1")
    await relay.settled()
    card = [one for one in relay.tg.messages(ADA) if one.from_bot][-1]
    forget = card.buttons["🗑 Forget"]
    relay.wire.watch = crash_once("editMessageText")
    relay.tg.press(ADA, ADA, card, forget)
    await run_to_end(relay)
    assert "Forgot" in card.text
    assert "already" not in card.text
    relay.tg.press(ADA, ADA, card, forget)  # from a client that still shows it
    await run_to_end(relay)
    assert "Memory #1 is already forgotten." in card.text


@pytest.mark.parametrize("minutes", ["60", "0"])
async def test_a_snooze_never_swallows_the_next_occurrence(relay: Inside, minutes: str) -> None:
    await relay.tg.say(ADA, ADA, "/remind every day at 9:00 tea")
    await relay.settled()
    made = next(one for one in relay.tg.messages(ADA) if one.from_bot)
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=30)
    begun = (soon - timedelta(days=3)).replace(tzinfo=None)
    await relay.sql("update reminder set start_at = %s, next_at = now()", begun)
    ((number,),) = await relay.sql("select id from reminder")
    relay.tg.press(ADA, ADA, made, f"rs:{number}:{minutes}")
    await relay.settled()
    assert await relay.sql("select next_at, occurrence from reminder") == [(soon, None)]
    relay.tg.press(ADA, ADA, made, f"rs:{number}:10")
    await relay.settled()
    ((at, occurrence),) = await relay.sql("select next_at, occurrence from reminder")
    assert at == occurrence < soon
