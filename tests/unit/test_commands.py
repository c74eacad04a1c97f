"""Commands: declared with their surfaces, typed, and the same on every surface."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import asdict, replace
from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter

from relay.clients.offline import OfflineModel
from relay.commands import context
from relay.commands.context import Installation, Services
from relay.commands.registry import SECTIONS
from relay.core.limits import FACT_LENGTH
from relay.core.models import Button, Space
from relay.core.text import escape_markdown, pluralize
from relay.memory.calls.base import decode_row
from relay.memory.claims import ClaimedTurn
from relay.memory.people import People
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.controls import Controls
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from relay.surfaces.chat import COMMANDS, HANDLERS
from relay.surfaces.chat.context import ChatContext, CommandMessage
from relay.surfaces.chat.dispatch import TOO_OLD, hear_answer, press_button, run_command
from relay.surfaces.chat.memory.controls import describe_switches
from relay.surfaces.chat.reply import ButtonReply, CommandReply
from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.parsing.command_message import parse_command_message
from tests.standins.fakes import FakeMessenger
from tests.telegram_objects import as_message

ADA, BEN = 1001, 1002
CHANGE = MemoryChange(1, "learn", "applied", 12, "fact", "likes tea")
DONE = {"changes": [asdict(CHANGE)], "failed": []}
STATUS = {
    "waiting": 1, "running": 2, "set_aside": 3, "summaries_due": 4, "soul": 5, "memories": 6, "pending": 7,
    "threads": 8, "exchanges": 9, "today": {"turns": 10, "input": 100, "cached": 300, "written": 0, "output": 11},
    "used": [], "night": None,
    "liked": 12, "disliked": 13, "incidents": [],
    "parked": [],
}  # fmt: skip
CONTROLS = {
    "space_id": 7, "memory": "on", "paused_until": None, "remembers": True, "recalls": True, "teaches": True,
    "private": False, "memories": 6, "pending": 7,
}  # fmt: skip


class Canned:
    """The database port with ready answers; records every call."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call(self, function: str, **arguments: Any) -> Any:
        self.calls.append((function, arguments))
        return self.answers[function]


def installed(services: Services, **settings: Any) -> Services:
    """The services of an installation with other settings."""
    return replace(services, installation=replace(services.installation, **settings))


def call(database: Canned | None = None, text: str = "", **more: Any) -> ChatContext:
    async def sees(space: Space) -> bool:
        return space.owner_id == ADA

    store = Store(database or Canned(), "w")
    summariser = Summariser(store, Gate(OfflineModel(), store), "small")
    values: dict[str, Any] = {
        "services": Services(Installation("1.2.3", "big", "small", "here"), store, People(frozenset()), summariser),
        "turn": ClaimedTurn(1, 1, "control", "working", 0, ADA, (), ()), "bot_id": 9, "private": True,
        "space": Space("private", owner_id=ADA), "chat_id": ADA, "topic_id": 0, "user_id": ADA, "name": "Ada",
        "admin": False, "text": text, "messenger": FakeMessenger(), "stop": not_running, "sees": sees,
    }  # fmt: skip
    values |= more
    message = values.pop("message", {"message_id": 1})
    return ChatContext(**{"said": parse_command_message(as_message(message)), **values})


async def running() -> bool:
    return True


async def not_running() -> bool:
    return False


async def everything(_: Space) -> bool:
    return True


async def told(name: str, made: ChatContext) -> CommandReply:
    return await run_command(made, name)


async def test_a_command_without_arguments_does_not_ignore_words_after_it() -> None:
    for name in ("say", "export", "browse", "status"):
        reply = await told(name, call(text="my memories"))
        assert (reply.text, reply.refused, reply.wrong) == (f"/{name} takes no words. Write it alone.", True, True)
    assert "not writing" in (await told("stop", call(text="please"))).text


def row(number: int, content: str, **more: Any) -> dict[str, Any]:
    base = {
        "id": number,
        "number": number,
        "kind": "fact",
        "subject": "Ada",
        "subject_id": ADA,
        "content": content,
        "pinned": False,
    }
    base |= {"created_at": "2026-05-03T12:00:00+00:00", "category": None, "tags": [], "status": "active"}
    return base | {"valid_until": None} | more


def opened(number: int, content: str, **more: Any) -> dict[str, Any]:
    base = {"status": "active", "tainted": False, "by": "tag", "updated_at": "2026-05-03T12:00:00+00:00", "last": None}
    base |= {"importance": 5, "confidence": 1, "valid_from": None, "uses": 0, "last_used_at": None, "evidence": 0}
    base |= {"faded": False}
    base |= {"replaced_by": None, "promoted_by": None}
    space = {"kind": "private", "owner_id": ADA, "chat_id": None}
    return row(number, content, space_id=7, space=space) | base | more


def known(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    counts = {"total": len(rows), "facts": len(rows), "learnings": 0, "pinned": 0, "pending": 0, "matching": len(rows)}
    return (
        counts
        | {"space_id": 7, "offset": 0, "categories": {}, "kinds": {}, "past": 0, "people": [], "memories": list(rows)}
        | more
    )


# Declarations


def test_the_promised_commands_exist() -> None:
    promised = {"start", "help", "new", "stop", "retry", "soul", "memory", "remember", "forget", "status"}
    assert promised <= set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_a_typed_async_function_with_known_surfaces(name: str) -> None:
    command = COMMANDS[name]
    assert command.name == name
    assert inspect.iscoroutinefunction(command.run)
    assert inspect.getdoc(command.run)
    result = get_type_hints(inspect.unwrap(command.run), vars(context) | vars(sys.modules[command.run.__module__]))[
        "return"
    ]
    assert result is CommandReply or TypeAdapter(result).json_schema(mode="serialization")
    assert get_type_hints(HANDLERS[name])["return"] is CommandReply
    assert command.surfaces
    assert set(command.surfaces) <= {"chat", "cli", "http"}
    assert re.fullmatch(r"[a-z0-9_]{1,32}", name)
    assert command.help
    assert not command.help.endswith(".")


def test_commands_that_affect_everyone_are_for_admins() -> None:
    assert COMMANDS["soul"].admin
    assert not COMMANDS["memory"].admin


# Conversations


async def test_start_greets_by_name_without_formatting_it() -> None:
    assert "Hello Ada!" in (await told("start", call())).text
    evil = "*[x](http://evil)* `y` <b>"
    shown = format_reply((await told("start", call(name=evil))).text)[0]
    assert f"Hello {evil}!" in shown.text
    assert {entity["type"] for entity in shown.entities} <= {"bot_command"}


async def test_help_lists_the_permitted_commands() -> None:
    mine, admins = (await told("help", call())).text, (await told("help", call(admin=True))).text
    assert "/memory" in mine
    assert "/soul" not in mine
    assert "/soul" in admins
    shown = "\n".join(message.text for message in format_reply(admins))
    for command in COMMANDS.values():
        assert (f"/{command.name} – {command.help}" in shown) == (
            "chat" in command.surfaces and "private" in command.places
        )
    in_group = (await told("help", call(admin=True, private=False))).text
    assert "/answer" in in_group
    assert "/answer" not in admins


def test_every_command_is_in_a_section_of_the_help() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(name for name, command in COMMANDS.items() if "chat" in command.surfaces)


async def test_new_says_what_was_started() -> None:
    database = Canned(new_session={"messages": 4, "session_id": 2}, suggest=[])
    assert "A new conversation" in (await told("new", call(database, "  My \n title " + "x" * 200))).text
    assert len(database.calls[0][1]["title"]) == 80
    for title, shown in (
        ("Trip to Porto", "Porto**. I still know"),
        ("Porto!", "Porto&#33;** I still know"),
        ("", "conversation. I still know"),
    ):
        assert shown in (await told("new", call(database, title))).text
    nothing = Canned(new_session={"messages": 0, "session_id": 2})
    assert "already" in (await told("new", call(nothing))).text


async def test_in_a_group_help_is_short_and_start_describes_the_group() -> None:
    group = Space("group", chat_id=-5)
    there = {"private": False, "space": group, "chat_id": -5}
    shown = (await told("help", call(**there))).text
    assert len(shown.splitlines()) < 10
    assert "/answer" not in shown
    assert "/help in our private chat" in shown
    assert "/forget" in (await told("help", call())).text
    for answers, words in (
        (None, "when they mention me"),
        ("all", "every message of the people I know"),
        ("off", "switched off here"),
    ):
        place = {"here": None, "everywhere": answers, "lender": None}
        hello = (await told("start", call(Canned(place=place), **there))).text
        assert words in hello
        assert "in all your chats" not in hello
        assert "what I learn here stays here" in hello
    for answers, words in (
        (None, "so I answer everything"),
        ("all", "so I answer everything"),
        ("addressed", "when they mention me"),
        ("off", "switched off here"),
    ):
        place = {"here": None, "everywhere": answers, "lender": None}
        alone = (await told("start", call(Canned(place=place), private=False, chat_id=-5))).text
        assert words in alone
        assert "just the two of us" in alone
        assert "your own memory" in alone
        assert ("answer everything" in alone) == (answers in (None, "all"))


@pytest.mark.parametrize("off", [{"memory": "off"}, {"paused_until": "2026-11-22T13:03:00+00:00"}])
def test_while_memory_is_off_the_card_does_not_say_that_it_works(off: dict[str, Any]) -> None:
    now = decode_row(Controls, CONTROLS)
    assert "- in this chat I use what I know; I learn from it" in describe_switches(call(), now)
    rests = describe_switches(call(), decode_row(Controls, CONTROLS | off))
    assert "- once memory is on again: in this chat I use what I know; I learn from it" in rests


async def test_stop_replies_only_if_nothing_was_running() -> None:
    assert (await told("stop", call(stop=running))).text == ""
    assert "not writing" in (await told("stop", call())).text


async def test_status_shows_the_installation_to_admins_only() -> None:
    mine = (await told("status", call(Canned(status=STATUS, controls=CONTROLS)))).text
    assert "75% from the cache" in mine
    assert "6 memories" in mine
    assert "queue" not in mine
    assert "here" not in mine
    admins = (await told("status", call(Canned(status=STATUS, controls=CONTROLS), admin=True))).text
    assert "1 waiting, 2 running, 3 set aside" in admins
    assert "storage: here" in admins
    fresh = STATUS | {"today": dict.fromkeys(("turns", "input", "cached", "written", "output"), 0)}
    assert "cache" not in (await told("status", call(Canned(status=fresh, controls=CONTROLS)))).text


async def test_status_counts_in_words_and_shows_names_literally() -> None:
    one = STATUS | {"memories": 1, "threads": 1, "exchanges": 1, "summaries_due": 1}
    asked = call(Canned(status=one, controls=CONTROLS), admin=True)
    services = installed(asked.services, model="big_*model*", storage="postgres://db_one/my_db")
    (shown,) = format_reply((await told("status", replace(asked, services=services))).text)
    assert "on big_*model* (summaries: small)" in shown.text
    assert "1 memory, 7 waiting for a tap" in shown.text
    assert "1 conversation, 1 answer\n" in shown.text
    assert "1 summary due" in shown.text
    assert "storage: postgres://db_one/my_db" in shown.text


def test_nouns_are_pluralized() -> None:
    assert [pluralize(n, "message") for n in (0, 1, 2, 1234)] == [
        "0 messages", "1 message", "2 messages", "1,234 messages",
    ]  # fmt: skip
    assert [pluralize(n, "memory", "memories") for n in (1, 2)] == ["1 memory", "2 memories"]


# Memory


async def test_memory_lists_numbers_and_shows_texts_literally() -> None:
    rows = [row(12, "likes *tea* `x` [y](z)"), row(11, "uses tabs", kind="learning")]
    done = await told("memory", call(Canned(list_memories=known(*rows, pending=1))))
    shown = format_reply(done.text)[0].text
    assert "#12 likes *tea* `x` [y](z)" in shown
    assert "◆ uses tabs" in shown
    assert "1 waiting for your tap" in shown
    assert done.private


async def test_memory_in_a_group_names_the_group_and_its_people() -> None:
    group = {
        "space": Space("group", chat_id=-5),
        "chat_id": -5,
        "sees": everything,
        "said": CommandMessage(chat_title="Chess *club*"),
    }
    done = await told("memory", call(Canned(list_memories=known(row(12, "likes tea"))), private=False, **group))
    shown = format_reply(done.text)[0].text
    assert "What I know in “Chess *club*” (1)" in shown
    assert "Ada: likes tea" in shown
    assert done.private


async def test_memory_in_a_group_without_a_title_says_a_group() -> None:
    page = Canned(list_memories=known(row(12, "likes tea")))
    group = call(page, space=Space("group", chat_id=-5), sees=everything)
    assert "What I know in a group" in (await told("memory", group)).text


async def test_memory_searches_for_words() -> None:
    database = Canned(list_memories=known(row(12, "likes tea"), total=9))
    done = await told("memory", call(database, " green\n tea "))
    assert database.calls[0][1]["chosen"] == {"words": "green tea"}
    assert "“green tea”** (1 of 9)" in done.text


@pytest.mark.parametrize("text", ["12", "#12"])
async def test_memory_opens_a_memory_by_its_number(text: str) -> None:
    database = Canned(numbered_memory=57, open_memory=opened(57, "likes tea") | {"number": 12})
    done = await told("memory", call(database, text))
    assert database.calls[0][1] == {"space": Space("private", owner_id=ADA).as_json(), "number": 12}
    assert "Fact #12" in done.text
    assert done.rows[0][0] == Button("✎ Edit", "e:57")


async def test_memory_refuses_a_number_that_does_not_exist_here() -> None:
    done = await told("memory", call(Canned(numbered_memory=None, open_memory=None), "12", admin=True))
    assert done.refused
    assert "no memory #12 here" in format_reply(done.text)[0].text


async def test_memory_says_if_nothing_is_known() -> None:
    assert "anything yet" in (await told("memory", call(Canned(list_memories=known(space_id=None))))).text


async def pressing(data: str, made: ChatContext) -> ButtonReply:
    kind, *parts = data.split(":")
    return await press_button(made, ":".join([kind, *parts]))


@pytest.mark.parametrize(
    "data",
    ["ml:99:a.1", "ml:99:zz", "mb:99", "mo:99:a.1", "mw:99:a.1", "mp:99:a.1", "mf:99:a.1", "mu:99:a.1", "mc:99:a.1",
     "md:99:u:a.1"],
)  # fmt: skip
async def test_buttons_for_missing_memories_show_nothing(data: str) -> None:
    database = Canned(space=None, open_memory=None, changed_in=None)
    assert (await pressing(data, call(database))).toast == "This is gone, or not yours to see."


@pytest.mark.parametrize(
    "data", ["ml:x:a.1", "ml::", "mq:x:a.1", "mo:²:a.1", f"mo:{'9' * 40}:a.1", "md:5:z:a.1", "fp:1:z"]
)
async def test_buttons_with_malformed_data_do_nothing(data: str) -> None:
    database = Canned()
    assert await press_button(call(database), data) == TOO_OLD
    assert database.calls == []


@pytest.mark.parametrize(
    "data",
    ["ml:7:a.1", "mb:7", "mo:12:a.1", "mw:12:a.1", "mp:12:a.1", "mq:12:a.1", "mf:12:a.1", "mu:5:a.1", "mc:7:a.1",
     "md:5:u:a.1"],
)  # fmt: skip
@pytest.mark.parametrize(("space", "place"), [
    ({"kind": "private", "owner_id": BEN, "chat_id": None}, {}),
    ({"kind": "group", "owner_id": None, "chat_id": -5}, {}),
    ({"kind": "private", "owner_id": ADA, "chat_id": None}, {"private": False, "chat_id": -5}),
])  # fmt: skip
async def test_buttons_show_nothing_that_the_person_may_not_see_there(
    data: str, space: dict[str, Any], place: dict[str, Any]
) -> None:
    """Another person's memory, one of a group that the person left, and their own where others can see it."""
    database = Canned(space=space, open_memory=opened(12, "secret", space=space),
                      changed_in={"turn_id": 4, "space": space, "memory_id": 12, "replaced": None,
                                  "keeps": False})  # fmt: skip
    done = await pressing(data, call(database, admin=True, **place))
    assert (done.toast, done.text, done.rows) == ("This is gone, or not yours to see.", None, None)
    assert not {name for name, _ in database.calls} - {"space", "open_memory", "changed_in"}


async def test_a_card_leads_back_to_its_page_of_the_list() -> None:
    space = {"kind": "private", "owner_id": ADA, "chat_id": None}
    database = Canned(space=space, list_memories=known(row(12, "likes tea"), matching=30, offset=16),
                      open_memory=opened(12, "likes tea"))  # fmt: skip
    done = await pressing("ml:7:p.3", call(database))
    assert database.calls[-1][1] | {"space": 0} == {"space": 0, "chosen": {"pinned": True}, "offset": 16, "limit": 8}
    assert done.rows is not None
    assert done.rows[0][0].callback_data == "mo:12:p.3"
    card = await pressing("mo:12:p.3", call(database))
    assert card.rows is not None
    assert card.rows[-1][0].callback_data == "ml:7:p.3"


async def test_undo_shows_nothing_private_in_a_group_that_others_joined() -> None:
    own = {"turn_id": 4, "space": {"kind": "private", "owner_id": ADA, "chat_id": None}}
    own |= {"memory_id": 12, "replaced": None, "keeps": False}
    place = {"space": Space("group", chat_id=-5), "chat_id": -5, "private": False}
    for data in ("u:4", "c:4", "d:5:u"):
        done = await pressing(data, call(Canned(changed_in=own), **place))
        assert "Others can read this chat" in done.toast
        assert (done.text, done.rows) == (None, None)


async def test_remember_stores_the_persons_own_words() -> None:
    database = Canned(controls=CONTROLS | {"memories": 0}, change_memory=DONE)
    done = await told("remember", call(database, "  I like\n tea "))
    assert (done.text, done.changes) == ("", (CHANGE,))
    (action,) = database.calls[-1][1]["actions"]
    assert (action["content"], action["subject_id"], action["subject"], action["by"]) == (
        "I like tea",
        ADA,
        "Ada",
        "user",
    )


@pytest.mark.parametrize(("name", "text"), [
    ("remember", ""), ("remember", " \n"), ("remember", "x" * (FACT_LENGTH + 1)),
    ("forget", ""), ("forget", "ab"), ("forget", "a b"), ("forget", "#"), ("forget", "!!!!!!"),
])  # fmt: skip
async def test_incomplete_commands_ask_for_the_missing_words(name: str, text: str) -> None:
    database = Canned()
    done = await told(name, call(database, text))
    assert done.text
    assert database.calls == []


@pytest.mark.parametrize("text", ["tea with milk", "12", "#12", "чай с молоком"])
async def test_forget_takes_words_and_numbers(text: str) -> None:
    database = Canned(change_memory=DONE)
    await told("forget", call(database, f"  {text} "))
    assert database.calls[0][1]["actions"] == [{"action": "forget", "content": text}]


async def test_an_admin_may_forget_another_persons_memory() -> None:
    database = Canned(change_memory=DONE)
    await told("forget", call(database, "#12", admin=True))
    assert database.calls[0][1]["actions"] == [{"action": "forget", "content": "#12", "admin": True}]


async def test_edit_rewords_a_persons_own_memory() -> None:
    database = Canned(open_memory=opened(12, "likes tea"), change_memory=DONE)
    done = await hear_answer(call(database, " likes\ncoffee "), "", 12)
    edit = {"action": "edit", "memory_id": 12, "admin": False, "content": "likes coffee"}
    assert [given["actions"] for name, given in database.calls if name == "change_memory"] == [[edit]]
    assert not done.private


async def test_edit_in_a_group_is_only_for_the_subject_of_the_memory() -> None:
    group = Space("group", chat_id=-5)
    database = Canned(open_memory=opened(12, "likes tea", space=group.as_json()), change_memory=DONE)
    done = await hear_answer(call(database, "x", space=group, user_id=BEN), "", 12)
    assert "not yours" in done.text
    assert [function for function, _ in database.calls] == ["open_memory"]
    await hear_answer(call(database, "x", space=group, user_id=BEN, admin=True), "", 12)
    assert "change_memory" in [function for function, _ in database.calls]


async def test_edit_changes_the_space_of_the_memory_from_anywhere() -> None:
    async def sees(space: Space) -> bool:
        return space.chat_id == -5

    group = Space("group", chat_id=-5)
    database = Canned(open_memory=opened(12, "likes tea", space=group.as_json()), change_memory=DONE)
    asked = await pressing("e:12", call(database, sees=sees))
    assert asked.says is not None
    assert not asked.says.private
    await hear_answer(call(database, "x", sees=sees), "", 12)
    assert [given["space"] for name, given in database.calls if name == "change_memory"] == [group.as_json()]


async def test_edit_of_a_private_memory_in_a_group_continues_in_private() -> None:
    place = {"space": Space("group", chat_id=-5), "chat_id": -5, "private": False}
    database = Canned(open_memory=opened(12, "likes tea"), change_memory=DONE)
    asked = await pressing("e:12", call(database, **place))
    assert asked.says is not None
    assert asked.says.private
    assert (await hear_answer(call(database, "x", **place), "", 12)).private


@pytest.mark.parametrize(
    ("text", "kind"), [("", "fact"), (" \n", "fact"), ("x" * 501, "fact"), ("x" * 2001, "learning")]
)
async def test_an_invalid_wording_changes_nothing(text: str, kind: str) -> None:
    database = Canned(open_memory=opened(12, "likes tea", kind=kind))
    assert "can have 1 to" in (await hear_answer(call(database, text), "", 12)).text
    database = Canned(open_memory=opened(12, "x", kind="learning"), change_memory=DONE)
    assert (await hear_answer(call(database, "x" * 2000), "", 12)).text == ""


@pytest.mark.parametrize("more", [{"status": "forgotten"}, {"status": "superseded"}])
async def test_a_forgotten_memory_cannot_be_edited(more: dict[str, Any]) -> None:
    failure = {"tag": "edit", "text": "x", "failed": f"memory #12 is {more['status']}"}
    database = Canned(open_memory=opened(12, "likes tea", **more), change_memory={"changes": [], "failed": [failure]})
    assert "gone" in (await pressing("e:12", call(database))).toast
    assert f"memory &#35;12 is {more['status']}" in (await hear_answer(call(database, "x"), "", 12)).text


@pytest.mark.parametrize(
    "text", ["plain", "*a* _b_ `c` [d](e) <f> # g | h ~ i \\ j ! $ &amp; >k", "- x", "1. x", "a  b"]
)
def test_escaped_markdown_shows_only_the_text(text: str) -> None:
    (message,) = format_reply(f"x {escape_markdown(text)}")
    assert message.text == f"x {' '.join(text.split())}"
    assert message.entities == []


@pytest.mark.parametrize(
    ("capture", "own", "shown", "named"),
    [
        ("auto", "on", "on – I learn as we talk", False),
        ("tags", "off", "off – I don't learn anything", False),
        ("ask", "on", "ask – I ask before I remember something (RELAY_CAPTURE is ask; your own choice is on)", True),
        ("off", "on", "off – I don't learn anything (RELAY_CAPTURE is off; your own choice is on)", True),
        ("off", "off", "off – I don't learn anything", False),
    ],
)
async def test_settings_show_the_effective_value_if_the_installation_limits_it(
    capture: str, own: str, shown: str, named: bool
) -> None:
    asked = call(Canned(choices={"learning": own}), admin=True)
    asked = replace(asked, services=installed(asked.services, capture=capture))
    said = (await told("settings", asked)).text
    assert f"- learning: {shown}\n" in said
    assert ("RELAY_CAPTURE" in said) is named
    guest = (await told("settings", replace(asked, admin=False))).text
    assert "RELAY_CAPTURE" not in guest
    assert ("this installation doesn't allow more" in guest) is named
