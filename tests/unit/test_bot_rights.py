"""The bot's rights in a group, its greeting there, and which of a group's updates it handles."""

from __future__ import annotations

from typing import Any

import pytest

from relay.memory.claims import ClaimedTurn
from relay.memory.intents import Forget, Intents, Learn, Remember, remove_known
from relay.surfaces.chat.people.bot_rights import BotRights, BotUser, ChatInfo, ChatMember, decode, reads_all, writes
from relay.surfaces.telegram.groups.group_join import format_greeting
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.understand import is_silenced
from tests.standins.telegram import TelegramStandIn
from tests.standins.telegram.checks import writable_chat
from tests.standins.telegram.values import ApiError
from tests.telegram_objects import sorted_row

Json = dict[str, Any]
ADA, BEN, SAM = 1001, 1002, 6666
BOT = Bot(77, "relay_bot")
GROUP = {"id": -1001, "type": "supergroup", "title": "Club"}


@pytest.mark.parametrize(
    ("me", "member", "expected"),
    [
        ({"can_read_all_group_messages": True}, {"status": "member"}, True),
        ({"can_read_all_group_messages": False}, {"status": "administrator"}, True),
        ({"can_read_all_group_messages": False}, {"status": "member"}, False),
        ({"can_read_all_group_messages": False}, {}, None),
        ({}, {"status": "member"}, None),
        ({}, {"status": "administrator"}, True),
    ],
)
def test_the_bot_knows_if_it_reads_all_messages(me: Json, member: Json, expected: bool | None) -> None:
    assert reads_all(decode(BotUser, me), decode(ChatMember, member)) is expected


@pytest.mark.parametrize(
    ("chat", "member", "expected"),
    [
        ({"permissions": {"can_send_messages": False}}, {"status": "administrator"}, True),
        ({"permissions": {"can_send_messages": False}}, {"status": "member"}, False),
        ({"permissions": {"can_send_messages": True}}, {"status": "member"}, True),
        ({}, {"status": "member"}, True),
        ({}, {"status": "restricted", "can_send_messages": False}, False),
        ({}, {}, None),
    ],
)
def test_the_bot_knows_if_it_may_write(chat: Json, member: Json, expected: bool | None) -> None:
    assert writes(decode(ChatInfo, chat), decode(ChatMember, member)) is expected


def test_the_status_of_a_member_says_if_they_are_present() -> None:
    here = [{"status": "member"}, {"status": "creator"}, {"status": "restricted", "is_member": True}]
    gone = [{"status": "left"}, {"status": "kicked"}, {"status": "restricted", "is_member": False}, {}]
    members = [decode(ChatMember, member) for member in here + gone]
    assert [member is not None and member.present for member in members] == [True] * 3 + [False] * 4


@pytest.mark.parametrize(
    ("answers", "alone", "expected"),
    [
        (None, False, "I answer the people I know when they mention me (@relay_bot), reply to me, or use a command"),
        (None, True, "No one else is here, so I answer everything"),
        ("addressed", True, "I answer the people I know when they mention me"),
        ("all", False, "I answer every message of the people I know"),
        ("off", False, "I'm switched off here"),
    ],
)
def test_the_greeting_says_which_messages_are_answered(answers: str | None, alone: bool, expected: str) -> None:
    assert expected in format_greeting(BotRights(True, True, False, "relay_bot"), answers, alone, "")


def test_the_greeting_says_who_lends_their_memory() -> None:
    told = format_greeting(BotRights(True, True, True, "relay_bot"), None, False, "*Ada*")
    assert "&#42;Ada&#42; lends me their memory" in told
    assert "also for a single topic" in told


# Which updates are handled


def gone(user_id: int, by: int) -> Json:
    body = {"message_id": 5, "chat": GROUP, "from": {"id": by}, "left_chat_member": {"id": user_id}}
    return {"update_id": 1, "message": body}


@pytest.mark.parametrize(
    ("user_id", "by", "known"), [(ADA, ADA, True), (ADA, SAM, True), (SAM, SAM, False), (SAM, ADA, False)]
)
def test_the_person_who_left_counts_not_the_one_who_removed_them(user_id: int, by: int, known: bool) -> None:
    row = sorted_row(gone(user_id, by), BOT, frozenset([ADA]), False)
    assert (row.kind, row.user_id, row.known) == ("control", user_id, known)


def claimed(update: Json, answers: str | None) -> ClaimedTurn:
    return ClaimedTurn(1, 1, "control", "working", 0, ADA, ({"update_id": 1, **update},), (), answers=answers)


def said(**body: Any) -> Json:
    return {"message": {"message_id": 5, "chat": GROUP, "from": {"id": ADA}, **body}}


@pytest.mark.parametrize(
    ("update", "of_an_admin", "of_another"),
    [
        (said(text="/status@relay_bot"), False, True),
        (said(text="@relay_bot hello"), True, True),
        (said(photo=[{}]), True, True),
        (said(forum_topic_created={"name": "Trips"}), False, False),
        (gone(ADA, ADA), False, False),
        ({"edited_message": said(text="hello")["message"]}, True, True),
        (
            {"callback_query": {"id": "1", "from": {"id": ADA}, "data": "x", "message": said(text="x")["message"]}},
            False,
            False,
        ),
        ({"my_chat_member": {"chat": GROUP, "from": {"id": ADA}}}, False, False),
    ],
)
def test_answer_off_silences_messages_but_not_an_admins_commands(
    update: Json, of_an_admin: bool, of_another: bool
) -> None:
    for answers in (None, "all", "addressed"):
        assert not is_silenced(claimed(update, answers), BOT, False)
    assert is_silenced(claimed(update, "off"), BOT, True) is of_an_admin
    assert is_silenced(claimed(update, "off"), BOT, False) is of_another


def test_lent_memories_are_not_learned_again() -> None:
    told = Intents(
        "Well.",
        (
            Learn("Collects stamps!"),
            Learn("Collects coins"),
            Forget("collects stamps"),
            Remember("collects  STAMPS", "knowledge", ()),
        ),
        (),
        False,
    )
    kept = remove_known(told, ["collects stamps", "…"])
    assert [str(getattr(action, "text", "")) for action in kept.actions] == ["Collects coins", "collects stamps"]


# The stand-in refuses as Telegram does


def test_a_bot_cannot_start_a_chat_or_write_while_muted() -> None:
    tg = TelegramStandIn()
    ada, ben = tg.user(ADA, "Ada"), tg.user(BEN, "Ben")
    group = tg.group(-1001, "Club", [ada, ben], bot_status="member")
    with pytest.raises(ApiError, match="Forbidden: bot can't initiate conversation with a user"):
        writable_chat(tg, {"chat_id": ADA})
    tg.dm(ada)
    assert writable_chat(tg, {"chat_id": ADA}).private
    group.muted = True
    with pytest.raises(ApiError, match="not enough rights to send text messages to the chat"):
        writable_chat(tg, {"chat_id": group.id})
    tg.set_member(group, tg.bot, "administrator", by=ada)
    assert writable_chat(tg, {"chat_id": group.id}) is group
