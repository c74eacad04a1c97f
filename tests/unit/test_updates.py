"""Telegram's updates: which are for the bot, where they belong, and what somebody said."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.models import Block, ReplyTo
from relay.memory.rows.turns.inbox import Asking, InboxRow
from relay.surfaces.telegram.parsing import message_parser, updates
from relay.surfaces.telegram.parsing.message_parser import find_date
from relay.surfaces.telegram.parsing.objects import Message, decode_update
from relay.surfaces.telegram.parsing.sorting import ALBUM_SECONDS, PASTE_SECONDS
from relay.surfaces.telegram.parsing.updates import Bot, Command, chat_of, sender_of
from tests.strategies import examples
from tests.telegram_objects import as_message, as_user, sorted_row

BOT = Bot(77, "relay_bot")
ADA, STRANGER = 1001, 6666
ALLOWED = frozenset([ADA])
Json = dict[str, Any]


def message(text: str | None = "hello", chat: str = "private", user: int = ADA, **more: Any) -> Json:
    body: Json = {"message_id": 5, "date": 1_700_000_000, "from": {"id": user, "first_name": "Ada"}}
    body["chat"] = {"id": user if chat == "private" else -1001234567890, "type": chat}
    return body | ({"text": text} if text is not None else {}) | more


PRIVATE = {"id": ADA, "type": "private"}
TO_CHANNEL = {"id": -1009, "type": "supergroup", "title": "News", "is_direct_messages": True}


def added(status: str, by: int = ADA) -> Json:
    chat = {"id": -1001234567890, "type": "supergroup"}
    return {"chat": chat, "from": {"id": by}, "new_chat_member": {"user": {"id": BOT.id}, "status": status}}


def sorted_(update: Json, group_open: bool = False, allowed: frozenset[int] = ALLOWED) -> InboxRow:
    return sorted_row({"update_id": 9} | update, BOT, allowed, group_open)


def blocks_of(body: Json, user_id: int) -> list[Block]:
    return message_parser.blocks_of(as_message(body), user_id)


def joined_blocks(bodies: list[Json], user_id: int, bot_id: int = 0) -> list[Block]:
    return message_parser.join_blocks([as_message(body) for body in bodies], user_id, bot_id)


def reply_of(body: Json, bot_id: int, user_id: int) -> ReplyTo | None:
    return message_parser.reply_of(as_message(body), bot_id, user_id)


def command_of(body: Json, bot: Bot) -> Command | None:
    return updates.command_of(as_message(body), bot)


def kind(body: Json, group_open: bool = False) -> str:
    return kind_or_strange(sorted_({"message": body}, group_open))


def kind_or_strange(row: InboxRow) -> str:
    """The kind of an update from somebody named in the settings; the database decides about others."""
    return row.kind if row.known or row.kind == "ignored" else "strange"


def pressed(data: Any, user: int = ADA) -> Json:
    return {"callback_query": {"id": "1", "from": {"id": user}, "data": data, "message": message("x")}}


# Who is addressed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (message("hello"), "turn"),
        (message("/new"), "turn"),
        (message("/retry"), "turn"),
        (message("/NEW title"), "turn"),
        (message("/status"), "control"),
        (message("/stop"), "control"),
        (message("/unknown"), "control"),
        (message("/remember I like tea"), "control"),
        (message("/status@relay_bot"), "control"),
        (message("/status@other_bot"), "ignored"),
        (message("/ not a command"), "turn"),
        (message("see /status"), "turn"),
        (message("/status", forward_origin={"type": "hidden_user"}), "turn"),
        (message("   \n"), "ignored"),
        (message(None), "ignored"),
        (message(None, photo=[{}]), "turn"),
        (message(None, voice={"file_id": "x"}), "turn"),
        (message(None, new_chat_members=[{"id": 1}]), "ignored"),
        (message("hi", user=STRANGER), "strange"),
        (message("hi", **{"from": {"id": ADA, "is_bot": True}}), "ignored"),
        (message("hi", chat="channel"), "ignored"),
        ({**message("hi"), "from": None}, "ignored"),
    ],
)
def test_private_messages_are_sorted_by_kind(body: Json, expected: str) -> None:
    assert kind(body) == expected


OURS = {"message_id": 4, "from": {"id": BOT.id, "is_bot": True}, "text": "said"}


@pytest.mark.parametrize(
    ("body", "shut", "opened"),
    [
        (message("hello", "supergroup"), "overheard", "turn"),
        (message("hello @relay_bot", "supergroup"), "turn", "turn"),
        (message("hello @RELAY_BOT!", "group"), "turn", "turn"),
        (
            message("a post for @relay_bot", "supergroup", sender_chat={"id": -9, "type": "channel"}),
            "ignored",
            "ignored",
        ),
        (message("hello @relay_bots", "supergroup"), "overheard", "turn"),
        (message("x@relay_bot.com is my mail", "supergroup"), "overheard", "turn"),
        (message("(@relay_bot)", "supergroup"), "turn", "turn"),
        (message("yes", "supergroup", reply_to_message=OURS), "turn", "turn"),
        (message("yes", "supergroup", reply_to_message=OURS | {"forum_topic_created": {}}), "overheard", "turn"),
        (message("/status@relay_bot", "supergroup"), "control", "control"),
        (message("/status@other_bot", "supergroup"), "ignored", "ignored"),
        (message("/new@relay_bot", "supergroup"), "turn", "turn"),
        (message(None, "supergroup", caption="look @relay_bot", photo=[{}]), "turn", "turn"),
        (message(None, "supergroup", photo=[{}], media_group_id="7"), "turn", "turn"),
        (message(None, "supergroup", photo=[{}]), "overheard", "turn"),
        (message("hello @relay_bot", "supergroup", user=STRANGER), "strange", "strange"),
        (message("hello @relay_bot", chat="supergroup") | {"chat": TO_CHANNEL}, "ignored", "ignored"),
    ],
)
def test_group_messages_are_sorted_by_kind(body: Json, shut: str, opened: str) -> None:
    assert (kind(body), kind(body, group_open=True)) == (shut, opened)


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (pressed("u:5"), "control"),
        (pressed("r:5"), "turn"),
        (pressed("w:5"), "turn"),
        (pressed(None), "control"),
        (pressed("u:5", STRANGER), "strange"),
        ({"callback_query": {"id": "1", "from": {"id": ADA}, "data": "u:5"}}, "ignored"),
        ({"stopped_message_generation": {"chat": {"id": ADA, "type": "private"}, "draft_id": 3}}, "control"),
        ({"stopped_message_generation": {"chat": {"id": STRANGER, "type": "private"}}}, "strange"),
        ({"edited_message": message("x")}, "control"),
        ({"edited_message": message("/help")}, "ignored"),
        ({"edited_message": message(None)}, "ignored"),
        ({"edited_message": message("x", user=STRANGER)}, "strange"),
        ({"message_reaction": {"chat": PRIVATE, "user": {"id": ADA}, "message_id": 5}}, "control"),
        ({"message_reaction": {"chat": PRIVATE, "user": {"id": STRANGER}, "message_id": 5}}, "strange"),
        ({"message_reaction": {"chat": PRIVATE, "actor_chat": {"id": -5}, "message_id": 5}}, "ignored"),
        ({"my_chat_member": added("member")}, "control"),
        ({"my_chat_member": added("left")}, "ignored"),
        ({"my_chat_member": added("kicked")}, "ignored"),
        ({"my_chat_member": added("member", STRANGER)}, "strange"),
        ({"message": message(None, "supergroup", forum_topic_created={"name": "Trips"})}, "control"),
        ({"message": message(None, "supergroup", STRANGER, forum_topic_created={"name": "Trips"})}, "strange"),
        ({"poll": {"id": "1"}}, "ignored"),
        ({"some_future_thing": {"x": 1}}, "ignored"),
        ({}, "ignored"),
        ({"message": None}, "ignored"),
        ({"my_chat_member": {"chat": {"id": ADA, "type": "private"}, "from": {"id": ADA}}}, "ignored"),
    ],
)
def test_other_updates_are_sorted_by_kind(update: Json, expected: str) -> None:
    assert kind_or_strange(sorted_(update)) == expected


@pytest.mark.parametrize(
    "update",
    [
        {"message": "text"},
        {"message": message(message_id="5")},
        {"message": message(message_id=2**63)},
        {"message": message(date=None)},
        {"message": message(message_thread_id="8", is_topic_message=True)},
        {"message": message(reply_to_message={"from": [1]})},
        {"message": message(chat="private") | {"chat": {"id": "x", "type": "private"}}},
        {"message": {key: value for key, value in message().items() if key != "message_id"}},
        {"edited_message": {key: value for key, value in message().items() if key != "date"}},
        {"callback_query": pressed("u:5")["callback_query"] | {"id": 1}},
        {"message": message(), **pressed("u:5")},
    ],
)
def test_invalid_updates_are_refused(update: Json) -> None:
    with pytest.raises(ValueError, match=r"validation error|not "):
        sorted_(update)


def test_malformed_details_do_not_lose_the_message() -> None:
    odd = {"photo": "x", "sticker": 5, "poll": ["x"], "media_group_id": 7, "migrate_to_chat_id": "y", "reply_markup": 1}
    row = sorted_({"message": message("hello", **odd)})
    assert (row.kind, row.hold) == ("turn", 0.0)
    assert blocks_of(message("hello", **odd), ADA) == [{"type": "text", "text": "hello"}]


def test_without_configured_people_nobody_is_known() -> None:
    for update in ({"message": message()}, pressed("u:1"), {"message": message("/start")}):
        assert sorted_(update, True, frozenset()).known is False


def test_only_the_number_of_an_ignored_update_is_stored() -> None:
    row = sorted_({"message": message("/x@other_bot", "supergroup")})
    assert row.arguments() == {"update_id": 9, "kind": "ignored", "user_id": ADA, "known": True, "event": "ignored"}


NONCE = "AbCdEfGhIjKlMnOpQrS_-9"


def test_start_passes_on_only_the_sender_and_a_hash_of_the_nonce() -> None:
    sender = {"id": STRANGER, "first_name": "Zoe", "last_name": "Z" * 90, "username": "zoe", "language_code": "pt"}
    more = {"from": sender, "reply_to_message": {"text": "private"}, "entities": [{"type": "bot_command"}]}
    row = sorted_({"message": message(f"/start {NONCE}", user=STRANGER, **more)})
    assert row.start == Asking(f"Zoe {'Z' * 60}", "zoe", hash=hashlib.sha256(NONCE.encode()).hexdigest())
    assert row.payload is not None
    assert row.payload["message"] == {
        "message_id": 5, "date": 1_700_000_000, "chat": {"id": STRANGER, "type": "private"}, "text": "/start",
        "from": {key: sender[key] for key in ("id", "first_name", "last_name", "username")},
    }  # fmt: skip
    assert NONCE not in str(row)


@pytest.mark.parametrize("words", ["", " hello", f" {NONCE}x", f" {NONCE} x", " " + "é" * 22])
def test_text_that_cannot_be_a_nonce_has_no_hash(words: str) -> None:
    start = sorted_({"message": message(f"/start{words}")}).start
    assert start is not None
    assert start.hash is None


@pytest.mark.parametrize(
    "update",
    [
        {"message": message(f"/start@relay_bot {NONCE}", "supergroup")},
        {"message": message(f"/start {NONCE}", forward_date=1)},
        {"message": message(f"/start {NONCE}", via_bot={"id": 5})},
        {"edited_message": message(f"/start {NONCE}")},
        {"message": message(f"/start {NONCE}", **{"from": {"id": ADA, "is_bot": True}})},
        pressed(f"/start {NONCE}"),
    ],
)
def test_start_counts_only_in_a_private_chat(update: Json) -> None:
    assert sorted_(update).start is None


def test_a_row_has_its_chat_topic_person_and_waiting_time() -> None:
    row = sorted_({"message": message("hi", "supergroup", message_thread_id=8, is_topic_message=True)}, True)
    assert (row.chat_id, row.topic_id, row.user_id) == (-1001234567890, 8, ADA)
    assert (row.telegram_message_id, row.hold, row.mergeable) == (5, 0.0, True)
    assert row.redacted == {"message_id": 5}, "the message may not be for the bot"


def test_commands_are_not_merged() -> None:
    assert sorted_({"message": message("/new")}).mergeable is False
    assert sorted_({"message": message("/new", forward_origin={"type": "user"})}).mergeable is True


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (message("x" * 3999), 0.0),
        (message("x" * 4000), PASTE_SECONDS),
        (message("🔥" * 1999), 0.0),
        (message("🔥" * 2000), PASTE_SECONDS),
        (message(None, photo=[{}], media_group_id="g"), ALBUM_SECONDS),
        (message(None, photo=[{}], caption="x" * 4000), 0.0),
    ],
)
def test_only_messages_that_may_continue_are_held_back(body: Json, seconds: float) -> None:
    assert sorted_({"message": body}).hold == seconds


def test_the_event_log_gets_a_copy_without_secrets() -> None:
    row = sorted_({"message": message("key sk-ant-api03-AAAAAAAAAAAAAAAAAAAA")})
    assert row.payload is not None
    assert "sk-ant" in row.payload["message"]["text"]
    assert row.redacted["message"]["text"] == "key [redacted]"


PROMPT = OURS | {"text": "✎ #3 – reply to this message"}


@pytest.mark.parametrize(
    ("body", "may_be"),
    [
        (message("new words", reply_to_message=PROMPT), True),
        (message("new words", reply_to_message=OURS), False),
        (message("new words", reply_to_message=PROMPT | {"from": {"id": ADA}}), False),
        (message("/help", reply_to_message=PROMPT), False),
        (message("new words", reply_to_message=PROMPT, forward_date=1), False),
        (message("new words", reply_to_message=PROMPT, via_bot={"id": 5}), False),
        (message(None, caption="new words", photo=[{}], reply_to_message=PROMPT), False),
    ],
)
def test_a_possible_reply_to_a_question_is_not_merged(body: Json, may_be: bool) -> None:
    assert updates.may_answer(as_message(body), BOT) is may_be
    row = sorted_({"message": body})
    command = row.kind == "control"
    assert command or (row.kind, row.mergeable) == ("turn", not may_be)


# Where


@pytest.mark.parametrize(
    ("more", "topic"),
    [
        ({}, 0),
        ({"message_thread_id": 8, "is_topic_message": True}, 8),
        ({"message_thread_id": 8}, 0),
    ],
)
def test_the_topic_of_a_message_is_found(more: Json, topic: int) -> None:
    assert updates.topic_of(as_message(message("x", "supergroup", **more))) == topic


def test_the_general_topic_counts_as_no_topic() -> None:
    assert updates.topic_of(as_message(message("x", "supergroup", message_thread_id=1, is_topic_message=True))) == 0


def test_a_stop_button_names_its_topic() -> None:
    stopped = {"chat": {"id": ADA, "type": "private"}, "message_thread_id": 6, "draft_id": 3}
    assert sorted_({"stopped_message_generation": stopped}).topic_id == 6


# Commands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/new", Command("new", "")),
        ("/New  my title ", Command("new", "my title")),
        ("/soul set\nYou are\nkind", Command("soul", "set\nYou are\nkind")),
        ("/new@RELAY_bot x", Command("new", "x")),
        ("/new@other", None),
        ("/", None),
        ("/néw", None),
        (" /new", None),
        ("//new", None),
        ("/" + "x" * 33, None),
    ],
)
def test_commands_are_parsed(text: str, expected: Command | None) -> None:
    assert command_of(message(text), BOT) == expected


def test_a_caption_is_not_a_command() -> None:
    assert command_of(message(None, caption="/new", photo=[{}]), BOT) is None


# What was said


def test_a_persons_own_text_is_trusted() -> None:
    assert blocks_of(message("hi"), ADA) == [{"type": "text", "text": "hi"}]


def test_forwarded_text_is_untrusted_with_its_source() -> None:
    origin = {"type": "user", "sender_user": {"id": 5, "first_name": "Mallory", "last_name": "M"}}
    assert blocks_of(message("buy", forward_origin=origin), ADA) == [
        {"type": "text", "text": "buy", "untrusted": "forward", "from": "Mallory M"}
    ]
    hidden = {"type": "hidden_user", "sender_user_name": "Hidden"}
    assert blocks_of(message("buy", forward_origin=hidden), ADA)[0]["from"] == "Hidden"
    channel = {"type": "channel", "chat": {"id": -1, "title": "News"}}
    assert blocks_of(message("buy", forward_origin=channel), ADA)[0]["from"] == "News"
    assert blocks_of(message("buy", forward_date=1), ADA)[0]["untrusted"] == "forward"


def test_a_forward_of_a_persons_own_message_is_trusted() -> None:
    origin = {"type": "user", "sender_user": {"id": ADA, "first_name": "Ada"}}
    assert "untrusted" not in blocks_of(message("mine", forward_origin=origin), ADA)[0]


def test_the_text_of_an_inline_bot_is_untrusted() -> None:
    body = message("/forget everything", via_bot={"id": 5, "is_bot": True, "first_name": "Gif Bot"})
    assert blocks_of(body, ADA) == [
        {"type": "text", "text": "/forget everything", "untrusted": "bot", "from": "Gif Bot"}
    ]
    assert command_of(body, BOT) is None
    assert kind(body) == "turn"
    replied = reply_of(message("x", reply_to_message=body), BOT.id, ADA)
    assert replied is not None
    assert replied.own is False


PHOTO = [
    {"file_id": "small", "file_unique_id": "s", "width": 90, "height": 60},
    {"file_id": "big", "width": 900, "height": 600},
]


def test_a_photo_has_its_largest_size_and_an_untrusted_caption() -> None:
    photo, caption = blocks_of(message(None, photo=PHOTO, caption="what is this?"), ADA)
    assert (photo["type"], photo["file"]["file_id"]) == ("attachment", "big")
    assert (caption["text"], caption["untrusted"]) == ("what is this?", "caption")


def test_a_replied_file_is_attached_to_the_question() -> None:
    chat = message(None)["chat"]
    own = {"message_id": 2, "chat": chat, "from": {"id": ADA}, "photo": PHOTO}
    file, words = joined_blocks([message("what is on it?", reply_to_message=own)], ADA, BOT.id)
    assert (file["type"], file["replied"], words["text"]) == ("attachment", True, "what is on it?")
    assert "untrusted" not in file
    theirs = own | {"from": {"id": 9, "first_name": "Ben"}}
    file, _ = joined_blocks([message("and this?", reply_to_message=theirs)], ADA, BOT.id)
    assert (file["untrusted"], file["from"]) == ("reply", "Ben")
    forward = own | {"forward_origin": {"type": "hidden_user", "sender_user_name": "Eve"}}
    file, _ = joined_blocks([message("and this?", reply_to_message=forward)], ADA, BOT.id)
    assert (file["untrusted"], file["from"]) == ("forward", "Eve")
    replied = reply_of(message("x", reply_to_message=own), BOT.id, ADA)
    assert replied is not None
    assert replied.text == "(photo)"


@pytest.mark.parametrize(
    "more",
    [
        {"reply_to_message": {"message_id": 2, "chat": {"id": 5}, "from": {"id": ADA}, "photo": PHOTO}},
        {"reply_to_message": {"message_id": 2, "from": {"id": ADA}, "photo": PHOTO}},
        {"reply_to_message": {"message_id": 2, "chat": {"id": ADA}, "from": {"id": BOT.id}, "voice": {"file_id": "v"}}},
        {"reply_to_message": {"message_id": 2, "chat": {"id": ADA}, "from": {"id": ADA}, "text": "words"}},
        {"external_reply": {"origin": {}, "chat": {"id": 5}, "poll": {"question": "Tea?"}}},
    ],
)
def test_what_the_bot_said_aloud_and_files_of_unknown_chats_are_not_attached(more: Json) -> None:
    assert [block["type"] for block in joined_blocks([message("what?", **more)], ADA, BOT.id)] == ["text"]


@pytest.mark.parametrize("kind", ["photo", "document"])
def test_a_picture_or_file_of_the_bot_is_attached_to_the_question(kind: str) -> None:
    ours = {"message_id": 2, "chat": {"id": ADA}, "from": {"id": BOT.id}, "photo": PHOTO}
    if kind == "document":
        ours = ours | {"photo": [], "document": {"file_id": "code"}}
    file, words = joined_blocks([message("what does it show?", reply_to_message=ours)], ADA, BOT.id)
    assert (file["file"]["kind"], file["replied"], words["text"]) == (kind, True, "what does it show?")
    assert "untrusted" not in file


NEWS = {"type": "channel", "chat": {"id": -9, "type": "channel", "title": "News"}}


def test_a_file_of_another_chat_is_attached_as_somebody_elses() -> None:
    elsewhere = {"origin": NEWS, "chat": {"id": -9}, "photo": PHOTO}
    body = message("what is on this?", external_reply=elsewhere)
    file, words = joined_blocks([body], ADA, BOT.id)
    assert (file["file"]["file_id"], file["replied"], words["text"]) == ("big", True, "what is on this?")
    assert (file["untrusted"], file["from"]) == ("reply", "News")
    assert reply_of(body, BOT.id, ADA) == ReplyTo(0, "(photo)", "", False, "News")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"voice": {"file_id": "v"}}, "(voice note)"),
        ({"document": {"file_id": "d", "file_name": "a.pdf"}}, "(file a.pdf)"),
        ({"story": {}}, "(sent a story, which cannot be opened)"),
        ({"dice": {"emoji": "🎲", "value": 4}}, "(threw 🎲: 4)"),
        ({}, ""),
        ({"photo": "odd"}, ""),
    ],
)
def test_the_contents_of_a_message_of_another_chat_are_named(content: Json, words: str) -> None:
    reply = reply_of(message("and this?", external_reply={"origin": NEWS, **content}), BOT.id, ADA)
    assert reply is not None
    assert reply.text == words


def test_messages_that_reply_to_different_ones_quote_them_in_front_of_each() -> None:
    chat = message(None)["chat"]
    alpha = {"message_id": 2, "chat": chat, "from": {"id": 5, "first_name": "Ben"}, "text": "alpha"}
    beta = {"message_id": 3, "chat": chat, "from": {"id": BOT.id}, "text": "beta"}
    bodies = [
        message("what about this", message_id=5, reply_to_message=alpha),
        message("or that", message_id=6, reply_to_message=alpha),
        message("and this one", message_id=7, reply_to_message=beta, quote={"text": "bet", "is_manual": True}),
        message("thanks", message_id=8),
    ]
    first, *others, second, answer, last = joined_blocks(bodies, ADA, BOT.id)
    assert first == {
        "type": "text", "text": "(the next message replies to a message:)\nalpha",
        "untrusted": "quote", "from": "Ben", "replied": True,
    }  # fmt: skip
    assert [block["text"] for block in others] == ["what about this", "or that"]
    assert second["text"] == "(the next message replies to this part of a message by you:)\nbet"
    assert second["untrusted"] == "quote"
    assert [block["text"] for block in (answer, last)] == ["and this one", "thanks"]
    messages = [as_message(body) for body in bodies]
    assert message_parser.find_reply(messages, ADA, BOT.id) is None


def test_messages_that_reply_to_the_same_one_have_one_reply() -> None:
    replied = [message(words, reply_to_message=OURS) for words in ("one", "two")]
    bodies = [*replied, message("three")]
    assert [block["text"] for block in joined_blocks(bodies, ADA, BOT.id)] == ["one", "two", "three"]
    found = message_parser.find_reply([as_message(body) for body in bodies], ADA, BOT.id)
    assert found == reply_of(replied[0], BOT.id, ADA)


def test_a_long_text_that_continues_in_a_reply_to_a_photo_is_not_joined() -> None:
    own = {"message_id": 2, "chat": message(None)["chat"], "from": {"id": ADA}, "photo": PHOTO}
    parts = [message("a" * 4096, message_id=5), message("b", message_id=6, reply_to_message=own)]
    assert [block["type"] for block in joined_blocks(parts, ADA, BOT.id)] == ["text", "attachment", "text"]


@pytest.mark.parametrize("moved", [{"location": {"latitude": 1.0, "longitude": 2.0, "live_period": 900}}, {"poll": {}}])
def test_updates_of_live_locations_and_polls_make_no_turn(moved: Json) -> None:
    assert sorted_({"edited_message": message(None, edit_date=1_700_000_060, **moved)}).kind == "ignored"


def test_the_parts_of_a_long_pasted_text_are_joined() -> None:
    parts = [message("a" * 4096, message_id=5), message("b" * 4000, message_id=6), message("c", message_id=7)]
    assert joined_blocks(parts, ADA) == [{"type": "text", "text": "a" * 4096 + "b" * 4000 + "c"}]


def test_the_parts_of_a_long_pasted_text_with_emoji_are_joined() -> None:
    parts = [message("🔥" * 2000 + "a", message_id=5), message("b", message_id=6)]
    assert joined_blocks(parts, ADA) == [{"type": "text", "text": "🔥" * 2000 + "ab"}]


def test_other_messages_are_not_joined() -> None:
    assert len(joined_blocks([message("a"), message("b", message_id=6)], ADA)) == 2
    assert len(joined_blocks([message("a" * 4000), message("b", message_id=9)], ADA)) == 2
    assert len(joined_blocks([message("a" * 4000), message("b", message_id=6, forward_date=1)], ADA)) == 2


@pytest.mark.parametrize(
    ("target", "own", "by"),
    [
        ({"message_id": 3, "from": {"id": BOT.id}, "text": "said"}, True, "you"),
        ({"message_id": 3, "from": {"id": ADA, "first_name": "Ada"}, "text": "said"}, True, "Ada"),
        ({"message_id": 3, "from": {"id": 5, "first_name": "Ben"}, "text": "said"}, False, "Ben"),
        ({"message_id": 3, "from": {"id": ADA, "first_name": "Ada"}, "text": "said", "forward_date": 1}, False, "Ada"),
        ({"message_id": 3, "text": "said"}, False, "somebody"),
        (
            {
                "message_id": 3,
                "from": {"id": 5, "first_name": "Ben"},
                "text": "said",
                "forward_origin": {"type": "hidden_user", "sender_user_name": "Eve"},
            },
            False,
            "Eve",
        ),
        (
            {
                "message_id": 3,
                "from": {"id": 777000, "first_name": "Telegram"},
                "text": "said",
                "forward_origin": {"type": "channel", "chat": {"id": -9, "type": "channel", "title": "News"}},
            },
            False,
            "News",
        ),
        (
            {
                "message_id": 3,
                "from": {"id": 1087968824, "is_bot": True, "first_name": "Group"},
                "sender_chat": {"id": -9, "type": "supergroup", "title": "Trip"},
                "text": "said",
            },
            False,
            "Trip",
        ),
    ],
)
def test_a_reply_knows_the_author_of_the_replied_message(target: Json, own: bool, by: str) -> None:
    reply = reply_of(message("x", reply_to_message=target), BOT.id, ADA)
    assert reply is not None
    assert (reply.own, reply.by, reply.text) == (own, by, "said")


def test_messages_without_a_real_target_are_no_replies() -> None:
    assert reply_of(message("x"), BOT.id, ADA) is None
    created = {"message_id": 3, "forum_topic_created": {"name": "t"}}
    assert reply_of(message("x", reply_to_message=created), BOT.id, ADA) is None


def test_only_a_manual_quote_counts() -> None:
    target = {"message_id": 3, "from": {"id": BOT.id}, "text": "one two"}
    manual = reply_of(message("x", reply_to_message=target, quote={"text": "two", "is_manual": True}), BOT.id, ADA)
    auto = reply_of(message("x", reply_to_message=target, quote={"text": "two"}), BOT.id, ADA)
    assert manual is not None
    assert auto is not None
    assert (manual.quote, auto.quote) == ("two", "")


def test_the_name_of_a_sender_is_found() -> None:
    assert message_parser.name_of(as_user({"first_name": "Ada", "last_name": "L"})) == "Ada L"
    assert message_parser.name_of(as_user({"username": "ada"})) == "ada"
    assert message_parser.name_of(None) == "somebody"


@pytest.mark.parametrize("date", [0, 10**15, -(10**15), 2**63 - 1, 253_402_300_799, -62_135_596_800])
def test_an_invalid_date_counts_as_now(date: int) -> None:
    before = datetime.now(UTC)
    assert before <= find_date(Message(date=date)) <= datetime.now(UTC)


def test_a_bot_without_a_username_is_never_addressed() -> None:
    assert updates.is_addressed(as_message(message("hello @", "group")), Bot(77, "")) is False


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.sampled_from([ADA, "private", "supergroup", "/new", "hi"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["chat", "from", "id", "type", "text", "caption", "reply_to_message"]), inner, max_size=5
        )
    ),
    max_leaves=8,
)


@examples(200)
@given(
    kind=st.sampled_from(["message", "callback_query", "my_chat_member", "stopped_message_generation", "odd"]),
    body=JSON,
)
def test_any_update_has_a_chat_and_a_sender(kind: str, body: Any) -> None:
    try:
        update = decode_update({"update_id": 1, kind: body})
    except ValueError:
        return
    assert isinstance(chat_of(update).id, int)
    assert isinstance(sender_of(update), int)


def test_a_button_press_stores_nothing_of_the_message_above_it() -> None:
    row = sorted_(pressed("u:5"))
    assert row.redacted == {"id": "1", "data": "u:5", "chat_id": ADA, "message_id": 5}


def test_an_edit_in_a_group_stores_no_text_and_obeys_answer_off() -> None:
    row = sorted_({"edited_message": message("@relay_bot secret", "supergroup")})
    assert row.redacted == {"message_id": 5}
    assert row.said is True


def test_an_album_is_for_the_bot_as_a_whole_or_not_at_all() -> None:
    ours = [
        message(None, "supergroup", photo=[{}], media_group_id="7"),
        message(None, "supergroup", photo=[{}], media_group_id="7", caption="@relay_bot which?"),
    ]
    other = message(None, "supergroup", photo=[{}], media_group_id="8", caption="our trip")
    odd = message(None, "supergroup", photo=[{}], media_group_id=["7"])
    there = [as_message(body) for body in (other, *ours, odd)]
    assert updates.for_bot(there, BOT) == there[1:3]
    assert updates.for_bot(there[:2], BOT) == []
