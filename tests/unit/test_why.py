"""/why: the explanation of an answer in words, and who may see what."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from relay.commands.history.why import add_cost
from relay.core.errors import NotAllowed
from relay.core.spending.prices import Prices
from relay.memory.calls.base import decode_row
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.choices import Choices
from relay.memory.rows.turns.why import Explanation
from relay.surfaces.chat.dispatch import TOO_OLD, press_button
from relay.surfaces.chat.history.why import PAGE, fact_rows, format_explanation
from relay.surfaces.telegram.formatting.format import format_reply
from tests.unit.test_commands import ADA, BEN, Canned, call, told

Json = dict[str, Any]


def memory(number: int, content: str = "likes tea", **more: Any) -> Json:
    base = {
        "id": number,
        "number": number,
        "kind": "fact",
        "subject": "Ada",
        "content": content,
        "status": "active",
        "lent": False,
    }
    return base | more


def found(**more: Any) -> Json:
    prompt = {
        "soul": 3, "recent_count": 14, "dropped_recent": 4, "left_out_memories": 28, "share": 1.0, "learning": "on",
        "tools": ["search_memory", "search_memory"], "tainted_by": [],
        "memory_layer": {"dropped": {"longer than the whole budget": 3, "no room": 25}},
        "tokens": {"soul": 900, "persona": 0, "memory": 1200, "message": 45},
    }  # fmt: skip
    base = {
        "turn_id": 7, "space": {"kind": "private", "owner_id": ADA, "chat_id": None}, "at": "2026-11-22T13:03:00+00:00",
        "model": "claude-sonnet-5-5", "tainted": False, "persona": None, "memories": [memory(12)], "hidden": 0,
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 3900, "cache_creation_input_tokens": 300,
                  "output_tokens": 210},
        "summary": {"text": "They *spoke* of tea.", "at": "2026-11-20T10:00:00+00:00"},
        "recalled": [{"role": "user", "name": "Ada", "text": "my tea is green", "at": "2026-10-01T08:00:00+00:00"}],
        "recalled_memories": [{"number": 31, "content": "her aunt grows tea"}],
        "recalled_summaries": [{"text": "Of *tea*.", "at": "2026-10-03T08:00:00+00:00"}] * 2,
        "recalled_artefacts": [{"kind": "note", "id": 3, "text": "Of *oak*.", "at": "2026-10-03T08:00:00+00:00"}],
        "recent_from": "2026-11-21T09:12:00+00:00", "tool_calls": 2,
    }  # fmt: skip
    return base | {"prompt": prompt | more.pop("prompt", {})} | more


def text(row: Json, page: int = 1, zone: Any = UTC) -> str:
    (part,) = format_reply(format_explanation(add_cost(decode_row(Explanation, row), Prices()), page, zone))
    return part.text


def rows_of(row: Json, page: int) -> list[list[Json]]:
    return fact_rows(decode_row(Explanation, row), page)


def test_the_explanation_names_everything_in_the_prompt() -> None:
    shown = text(found(persona="You are my Spanish teacher"))
    for words in (
        "Why this answer (2026-11-22 13:03, claude-sonnet-5-5)",
        "soul: version 3",
        "in this conversation: “You are my Spanish teacher”",
        "summary of 2026-11-20 10:00: “They *spoke* of tea.”",
        "recent messages: 14, since 2026-11-21 09:12",
        "recalled: 1 message, 1 memory, 2 summaries",
        "#31: “her aunt grows tea”",
        "summary of 2026-10-03 08:00: “Of *tea*.”",
        "2026-10-01 08:00, Ada: “my tea is green”",
        "tools: searched memory\n",
        "left out of the prompt: 28 facts (3 longer than the whole budget, 25 no room) and 4 recent messages",
        "memory: changes take effect at once",
        "#12 likes tea",
        "soul 900, memory 1,200, message 45",
        "4,300 in (3,900 from the cache, 300 written to it), 210 out; about $0.0034",
    ):
        assert words in shown
    assert "persona 0" not in shown


def test_times_are_in_the_readers_time_zone() -> None:
    assert "2026-11-22 22:03" in text(found(), zone=ZoneInfo("Asia/Tokyo"))


def test_an_answer_without_a_record_says_so() -> None:
    shown = text(found(prompt={}, summary=None, recalled=[], recent_from=None, memories=[]) | {"prompt": {}})
    assert "I no longer have the details of this answer." in shown
    assert "soul" not in shown
    assert "Counted:" in shown


def test_a_malformed_record_is_treated_as_missing() -> None:
    for odd in ({"soul": "x"}, {"soul": 1, "memories": {}}, {"soul": 1, "tokens": [3]}, 7):
        assert "no longer have the details of this answer" in text(found() | {"prompt": odd})


def test_an_answer_with_a_minimal_record_is_explained() -> None:
    bare = found(prompt={}, summary=None, recalled=[], recent_from=None, memories=[], usage={}, model="offline")
    bare |= {"recalled_memories": [], "recalled_summaries": [], "recalled_artefacts": [], "tool_calls": 0}
    bare["prompt"] = {"soul": 0}
    shown = text(bare)
    for words in ("soul: version 0", "no summary", "recalled: nothing", "tools: none", "Facts: none", "not recorded"):
        assert words in shown
    assert "not recorded" in shown
    assert "left out of the prompt: nothing" in shown
    assert "no price known for offline" in shown


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (
            {"tainted": True, "prompt": {"tainted_by": ["message", "tool", "news"]}},
            "contained other people's words; a tool brought",
        ),
        ({"tainted": True}, "(it contained other people’s words)"),
        ({"prompt": {"learning": "ask"}}, "as you chose in /settings"),
        ({"prompt": {"learning": "off"}, "tainted": True}, "learning was off"),
        ({"signs": ["private"], "tainted": True}, "off the record, so nothing was learned"),
        ({"resting": True}, "off or paused, so nothing was learned"),
        ({"signs": ["unlearned here"]}, "learning was off"),
    ],
)
def test_the_explanation_says_why_memory_waited(row: Json, line: str) -> None:
    assert line in text(found(**row))


def test_facts_are_paged_with_a_button_for_each_active_one() -> None:
    many = found(memories=[memory(number, status="forgotten" if number == 2 else "active") for number in range(1, 20)])
    assert "Facts (19, page 1 of 4)" in text(many)
    assert "#2 likes tea (forgotten since)" in text(many)
    rows = rows_of(many, 1)
    data = [one.callback_data for row in rows for one in row]
    assert data == ["yf:7:1:1", "yf:7:3:1", "yf:7:4:1", "yf:7:5:1", "yf:7:6:1", "yt:7:1", "yp:7:4", "n", "yp:7:2"]
    assert [one.callback_data for one in rows_of(many, 99)[-1]] == ["yp:7:3", "n", "yp:7:1"]
    assert rows_of(found(memories=[], tool_calls=0), 1) == []


def test_buttons_and_the_longest_explanation_fit_telegram() -> None:
    huge = 2**62
    memories = [memory(huge + number, "word " * 60) for number in range(PAGE * 2)]
    recalled = [{"role": "user", "name": "N" * 300, "text": "t" * 300, "at": "2026-10-01T08:00:00+00:00"}] * 5
    row = found(
        turn_id=huge, memories=memories, recalled=recalled, persona="p" * 300, tainted=True,
        prompt={"tainted_by": ["message", "reply", "summary", "people", "recent", "recalled", "tool"]},
    )  # fmt: skip
    assert len(text(row)) < 4000
    assert all(len(one.callback_data.encode()) <= 64 for line in rows_of(row, 1) for one in line)


def test_lent_facts_are_only_counted_for_others_and_marked_for_the_lender() -> None:
    group = {"kind": "group", "owner_id": None, "chat_id": -5}
    assert "Facts: none and 3 that someone lent" in text(found(space=group, memories=[], hidden=3))
    assert "Ada: likes tea (yours, lent)" in text(found(space=group, memories=[memory(4, lent=True)]))


async def test_the_last_or_the_replied_answer_is_explained() -> None:
    database = Canned(answered_turn=7, why=found())
    message = {"message_id": 5, "reply_to_message": {"message_id": 3}}
    assert "Why this answer" in (await told("why", call(database, message=message))).text
    assert (await told("why", call(database))).private
    opened = {"message_id": 5, "reply_to_message": {"message_id": 3, "forum_topic_created": {}}}
    await told("why", call(database, message=opened))
    asked = [given["telegram_message_id"] for name, given in database.calls if name == "answered_turn"]
    assert asked == [3, 0, 0]


async def test_without_an_answer_there_is_nothing_to_explain() -> None:
    database = Canned(answered_turn=None, unasked=None)
    assert "answered anything" in (await told("why", call(database))).text
    message = {"message_id": 5, "reply_to_message": {"message_id": 3}}
    assert "isn't one of my answers" in (await told("why", call(database, message=message))).text


@pytest.mark.parametrize("by", ["heartbeat", "digest", "growth"])
async def test_an_unasked_message_is_explained(by: str) -> None:
    database = Canned(answered_turn=None, unasked={"by": by, "reminders": []})
    message = {"message_id": 5, "reply_to_message": {"message_id": 3}}
    assert "I sent this on my own: " in (await told("why", call(database, message=message))).text


async def test_another_persons_answer_is_not_explained() -> None:
    theirs = found(space={"kind": "private", "owner_id": BEN, "chat_id": None})
    database = Canned(answered_turn=7, why=theirs)
    asked = await told("why", call(database))
    assert "isn't yours" in asked.text
    assert "tea" not in asked.text
    assert not asked.rows
    for kind, data in (("yp", ("7", "1")), ("yf", ("7", "12", "1"))):
        done = await press_button(call(database), ":".join([kind, *data]))
        assert "isn't yours" in done.toast
        assert done.text is None
    assert "change_memory" not in [name for name, _ in database.calls]


@pytest.mark.parametrize("data", [("x", "12", "1"), ("7", "99", "1"), ("7", "", "1"), ("7" * 30, "12", "-")])
async def test_malformed_button_data_forgets_nothing(data: tuple[str, str, str]) -> None:
    database = Canned(why=found() if data[0] == "7" else None)
    done = await press_button(call(database), ":".join(["yf", *data]))
    assert done.toast in (TOO_OLD.toast, str(NotAllowed()), "I can't show what went into this answer: it isn't yours.")
    assert done.text is None
    assert "change_memory" not in [name for name, _ in database.calls]


async def test_the_forget_button_does_the_same_as_the_command() -> None:
    change = MemoryChange(1, "forget", "applied", 12, "fact", "likes tea")
    database = Canned(why=found(), change_memory={"changes": [asdict(change)], "failed": []})
    done = await press_button(call(database, admin=True), "yf:7:12:1")
    assert done.toast == "Forgotten."
    assert done.says is not None
    assert done.says.changes == (change,)
    given = next(given for name, given in database.calls if name == "change_memory")
    assert given["actions"] == [{"action": "forget", "content": "", "memory_id": 12, "admin": True}]
    assert given["space"]["owner_id"] == ADA
    database = Canned(
        why=found(),
        change_memory={"changes": [], "failed": [{"tag": "forget", "text": "tea", "failed": "nothing matches"}]},
    )
    assert "That isn't yours to forget" in (await press_button(call(database), "yf:7:12:1")).toast


async def test_a_lent_fact_is_forgotten_in_the_space_of_its_owner() -> None:
    lent = found(memories=[memory(12, lent=True)])
    database = Canned(why=lent, change_memory={"changes": [], "failed": []})
    await press_button(call(database), "yf:7:12:1")
    given = next(given for name, given in database.calls if name == "change_memory")
    assert given["space"] == {"kind": "private", "owner_id": ADA, "chat_id": None}


async def test_a_page_is_shown_in_the_persons_time_zone() -> None:
    turn = ClaimedTurn(1, 1, "control", "working", 0, ADA, (), (), choices=Choices(zone="Asia/Tokyo"))
    done = await press_button(call(Canned(why=found()), turn=turn), "yp:7:1")
    assert "22:03" in (done.text or "")


CALL = {
    "turn_id": 7, "nr": 1, "total": 2, "name": "search_memory",
    "space": {"kind": "private", "owner_id": ADA, "chat_id": None}, "input": '{"query": "tea"}', "failed": False,
    "result": "[m1] *green* tea", "length": 16,
}  # fmt: skip


async def test_tool_calls_are_shown_to_people_who_may_see_the_answer() -> None:
    assert ["🔎 2 tool calls"] in [[one.text for one in row] for row in rows_of(found(), 1)]
    done = await press_button(call(Canned(why=found(), tool_call=CALL)), "yt:7:1")
    assert done.text is not None
    (part,) = format_reply(done.text)
    for words in ("Tool 1 of 2: searched memory", '{"query": "tea"}', "[m1] *green* tea"):
        assert words in part.text
    assert [one.callback_data for row in done.rows or [] for one in row] == ["yt:7:2", "n", "yt:7:2", "yp:7:1"]
    long = CALL | {"result": "x" * 2000, "length": 9000, "total": 1, "failed": True}
    done = await press_button(call(Canned(why=found(), tool_call=long)), "yt:7:5")
    assert "7,000 characters more" in (done.text or "")
    assert "an error" in (done.text or "")
    theirs = Canned(why=found(space={"kind": "private", "owner_id": BEN, "chat_id": None}), tool_call=CALL)
    refused = await press_button(call(theirs), "yt:7:1")
    assert "searched" not in (refused.text or "")
    assert refused == await press_button(call(theirs), "yp:7:1")
