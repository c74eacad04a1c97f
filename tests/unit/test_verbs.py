"""What a user can do: declared with its doors, typed, and the same whatever the door."""

from __future__ import annotations

import inspect
import re
from datetime import UTC
from typing import Any

import pytest
from telegram.constants import BotCommandLimit

from relay.bot.format import format_reply
from relay.bot.menu import register
from relay.jobs import Summariser
from relay.memory.store import Store
from relay.models import Claimed, Space
from relay.prompt import SOUL_TOKENS
from relay.testing import FakeMessenger, OfflineModel
from relay.verbs import VERBS
from relay.verbs import memory as memory_verbs
from relay.verbs.memory import FACT_LENGTH
from relay.verbs.registry import Call, House, Told, literal

ADA, BEN = 1001, 1002
DONE = {"changes": [{"id": 1}], "failed": []}
STATUS = {
    "waiting": 1, "running": 2, "set_aside": 3, "summaries_due": 4, "soul": 5, "memories": 6, "pending": 7,
    "threads": 8, "exchanges": 9, "today": {"turns": 10, "input": 100, "cached": 300, "written": 0, "output": 11},
    "liked": 12, "disliked": 13,
}  # fmt: skip


class Canned:
    """The database port with ready answers; takes every call down."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call(self, function: str, **arguments: Any) -> Any:
        self.calls.append((function, arguments))
        return self.answers[function]


def call(database: Canned | None = None, text: str = "", **more: Any) -> Call:
    async def sees(space: Space) -> bool:
        return space.owner_id == ADA

    store = Store(database or Canned(), "w")
    summariser = Summariser(store, OfflineModel(), "small")
    values: dict[str, Any] = {
        "house": House(store, FakeMessenger(), summariser, UTC, "1.2.3", "big", "small", "here"),
        "turn": Claimed(1, 1, "control", "working", 0, ADA, (), ()), "bot_id": 9, "private": True,
        "space": Space("private", owner_id=ADA), "chat_id": ADA, "topic_id": 0, "user_id": ADA, "name": "Ada",
        "admin": False, "text": text, "message": {"message_id": 1}, "stop": lambda: False, "sees": sees,
    }  # fmt: skip
    return Call(**(values | more))


async def told(name: str, made: Call) -> Told:
    return await VERBS[name].run(made)


def row(number: int, content: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "kind": "fact", "subject": "Ada", "subject_id": ADA, "content": content} | more


# Declarations


def test_the_commands_that_were_promised_are_there() -> None:
    promised = {"start", "help", "new", "stop", "retry", "soul", "memory", "remember", "forget", "status"}
    assert promised <= set(VERBS)


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_verb_is_a_typed_async_function_with_known_doors(name: str) -> None:
    verb = VERBS[name]
    assert verb.name == name
    assert inspect.iscoroutinefunction(verb.run)
    assert inspect.getdoc(verb.run)
    assert inspect.get_annotations(verb.run, eval_str=False)["return"] == "Told"
    assert verb.doors
    assert set(verb.doors) <= {"chat", "cli", "http"}
    assert re.fullmatch(r"[a-z0-9_]{1,32}", name)
    assert verb.help
    assert not verb.help.endswith(".")


def test_what_changes_everybodys_assistant_is_for_admins() -> None:
    assert VERBS["soul"].admin
    assert not VERBS["memory"].admin


async def test_the_menu_lists_what_everybody_may() -> None:
    messenger = FakeMessenger()
    await register(messenger)
    commands = [one for method, sent in messenger.calls if method == "setMyCommands" for one in sent["commands"]]
    names = {one["command"] for one in commands}
    assert {"help", "memory", "new"} <= names
    assert all(0 < len(one["description"]) <= BotCommandLimit.MAX_DESCRIPTION for one in commands)


# Conversations


async def test_start_greets_by_name_and_a_name_does_nothing() -> None:
    assert "Hello Ada!" in (await told("start", call())).text
    evil = "*[x](http://evil)* `y` <b>"
    shown = format_reply((await told("start", call(name=evil))).text)[0]
    assert f"Hello {evil}!" in shown.text
    assert {entity["type"] for entity in shown.entities} <= {"bot_command"}


async def test_help_lists_what_one_may() -> None:
    mine, admins = (await told("help", call())).text, (await told("help", call(admin=True))).text
    assert "/memory" in mine
    assert "/soul" not in mine
    assert "/soul" in admins
    shown = "\n".join(message.text for message in format_reply(admins))
    for verb in VERBS.values():
        if "chat" in verb.doors:
            assert f"/{verb.name}{' ' + verb.usage if verb.usage else ''}" in shown


async def test_new_says_what_happens() -> None:
    database = Canned(new_session={"messages": 4, "session_id": 2})
    assert "A new conversation" in (await told("new", call(database, "  My \n title " + "x" * 200))).text
    assert len(database.calls[0][1]["title"]) == 80
    nothing = Canned(new_session={"messages": 0, "session_id": 2})
    assert "already" in (await told("new", call(nothing))).text


async def test_stop_says_something_only_when_there_was_nothing() -> None:
    assert (await told("stop", call(stop=lambda: True))).text == ""
    assert "not writing" in (await told("stop", call())).text


async def test_status_shows_the_installation_to_admins_only() -> None:
    mine = (await told("status", call(Canned(status=STATUS)))).text
    assert "75 % from the cache" in mine
    assert "6 memories" in mine
    assert "queue" not in mine
    assert "here" not in mine
    admins = (await told("status", call(Canned(status=STATUS), admin=True))).text
    assert "1 waiting, 2 running, 3 set aside" in admins
    assert "storage: here" in admins
    fresh = STATUS | {"today": dict.fromkeys(("turns", "input", "cached", "written", "output"), 0)}
    assert "cache" not in (await told("status", call(Canned(status=fresh)))).text


# Memory


async def test_memory_lists_with_numbers_and_shows_texts_as_they_are() -> None:
    rows = [row(12, "likes *tea* `x` [y](z)"), row(11, "uses tabs", kind="learning")]
    page = Canned(memories={"total": 2, "pending": 1, "memories": rows})
    text = (await told("memory", call(page))).text
    shown = format_reply(text)[0].text
    assert "#12 likes *tea* `x` [y](z)" in shown
    assert "◆ uses tabs" in shown
    assert "1 wait for your tap" in shown


async def test_memory_of_a_group_names_people() -> None:
    page = Canned(memories={"total": 1, "pending": 0, "memories": [row(12, "likes tea")]})
    assert "Ada: likes tea" in (await told("memory", call(page, space=Space("group", chat_id=-5)))).text


@pytest.mark.parametrize(
    ("text", "offset"), [("", 0), ("1", 0), ("3", 50), ("x", 0), ("0", 0), ("-1", 0), ("9" * 30, 0)]
)
async def test_memory_in_pages(text: str, offset: int) -> None:
    database = Canned(memories={"total": 60, "pending": 0, "memories": [row(1, "x")]})
    shown = (await told("memory", call(database, text))).text
    assert database.calls[0][1]["offset"] == offset
    assert "of 3" in shown
    assert ("/memory 2" in shown) == (offset == 0)


async def test_memory_of_nobody_and_beyond_the_end() -> None:
    nothing = {"total": 0, "pending": 0, "memories": []}
    assert "nothing yet" in (await told("memory", call(Canned(memories=nothing)))).text
    beyond = {"total": 3, "pending": 0, "memories": []}
    assert "no page 9" in (await told("memory", call(Canned(memories=beyond), "9"))).text


async def test_remember_keeps_the_persons_words() -> None:
    database = Canned(change_memory=DONE)
    done = await told("remember", call(database, "  I like\n tea "))
    assert (done.text, done.changes) == ("", DONE["changes"])
    (action,) = database.calls[0][1]["actions"]
    assert (action["content"], action["subject_id"], action["subject"], action["by"]) == (
        "I like tea",
        ADA,
        "Ada",
        "user",
    )


@pytest.mark.parametrize(("name", "text"), [
    ("remember", ""), ("remember", " \n"), ("remember", "x" * (FACT_LENGTH + 1)),
    ("forget", ""), ("forget", "ab"), ("forget", "a b c"), ("forget", "#"), ("forget", "!!!!!!"),
])  # fmt: skip
async def test_what_cannot_be_meant_is_asked_for(name: str, text: str) -> None:
    database = Canned()
    done = await told(name, call(database, text))
    assert done.text
    assert database.calls == []


@pytest.mark.parametrize("text", ["tea with milk", "12", "#12", "чай с молоком"])
async def test_forget_takes_words_and_numbers(text: str) -> None:
    database = Canned(change_memory=DONE)
    await told("forget", call(database, f"  {text} "))
    assert database.calls[0][1]["actions"] == [{"action": "forget", "content": text}]


async def test_an_admins_command_may_forget_what_is_anothers() -> None:
    database = Canned(change_memory=DONE)
    await told("forget", call(database, "#12", admin=True))
    assert database.calls[0][1]["actions"] == [{"action": "forget", "content": "#12", "admin": True}]


async def test_edit_rewords_ones_own() -> None:
    database = Canned(memory=row(12, "likes tea"), change_memory=DONE)
    await memory_verbs.edit(call(database, " likes\ncoffee "), 12)
    assert database.calls[-1][1]["actions"] == [{"action": "edit", "memory_id": 12, "content": "likes coffee"}]


async def test_edit_in_a_group_is_for_whom_it_is_about() -> None:
    group = Space("group", chat_id=-5)
    database = Canned(memory=row(12, "likes tea"), change_memory=DONE)
    done = await memory_verbs.edit(call(database, "x", space=group, user_id=BEN), 12)
    assert "not yours" in done.text
    assert [function for function, _ in database.calls] == ["memory"]
    await memory_verbs.edit(call(database, "x", space=group, user_id=BEN, admin=True), 12)
    assert database.calls[-1][0] == "change_memory"


@pytest.mark.parametrize(
    "text", ["plain", "*a* _b_ `c` [d](e) <f> # g | h ~ i \\ j ! $ &amp; >k", "- x", "1. x", "a  b"]
)
def test_literal_markdown_shows_just_the_text(text: str) -> None:
    (message,) = format_reply(f"x {literal(text)}")
    assert message.text == f"x {' '.join(text.split())}"
    assert message.entities == []


# The soul


async def test_the_soul_is_shown_and_set() -> None:
    database = Canned(soul={"version": 3, "text": "You are kind.", "created_at": "2026-01-01T00:00:00Z"}, set_soul=4)
    assert "version 3" in (await told("soul", call(database))).text
    for text in ("set You are a pirate.", "set\nYou are a pirate.", "SET  You are a pirate. "):
        assert "version 4" in (await told("soul", call(database, text))).text
        assert database.calls[-1][1] == {"text": "You are a pirate.", "author_id": ADA, "reason": "set in the chat"}


@pytest.mark.parametrize("text", ["set", "set ", "setting x", "x", "set\n"])
async def test_a_soul_that_cannot_be_meant(text: str) -> None:
    database = Canned()
    assert "/soul set" in (await told("soul", call(database, text))).text
    assert database.calls == []


async def test_a_soul_has_a_length() -> None:
    database = Canned()
    assert "at most" in (await told("soul", call(database, "set " + "x" * (SOUL_TOKENS * 4 + 5)))).text
    assert database.calls == []


async def test_no_soul_yet() -> None:
    assert "No soul" in (await told("soul", call(Canned(soul=None)))).text
