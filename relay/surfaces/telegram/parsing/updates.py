"""Telegram's updates as they come: which are for us, in which lane, and what somebody said in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from relay.core.redact import redacted
from relay.memory.people import digest
from relay.surfaces.telegram.parsing.message_parser import (
    HEARD,
    PASTE_LENGTH,
    is_foreign,
    name_of,
    says_something,
    text_of,
)

ALLOWED_UPDATES = (
    "message",
    "edited_message",
    "message_reaction",
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)
NOTED = ("edited_message", "message_reaction", "my_chat_member")
"""Updates that tell of something and say nothing themselves."""
TOPIC_EVENTS = ("forum_topic_created", "forum_topic_edited")
LEFT = "left_chat_member"
WHO = ("id", "first_name", "last_name", "username")
NAME_LENGTH = 64

ALBUM_SECONDS = 0.5
PASTE_SECONDS = 1.0

NUMBERS = ("id", "message_id", "message_thread_id", "date", "edit_date", "draft_id")
OBJECTS = (
    *("chat", "from", "user", "reply_to_message", "quote", "forward_origin", "external_reply", "via_bot"),
    *("sender_user", "sender_chat", "origin", "old_chat_member", "new_chat_member", LEFT),
)
"""What is a number, and what an object of its own, wherever it stands in a message."""

IN_LANE = frozenset({"new", "retry"})
"""Commands that keep their place among the messages; all others act at once."""
IN_LANE_BUTTONS = ("r:", "w:", "a:")
WITH_DOCUMENT = frozenset({"soul"})
"""Commands that may be the caption of a document, which they take."""

ASKED = re.compile(r"^✎ ([a-z]*) ?(?:#?(\d{1,18}))?")
"""How a question of ours begins: what it asks for, and about which one."""
COMMAND = re.compile(r"^/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+(.*))?$", re.DOTALL)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bot:
    """Who the bot is on Telegram."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class Command:
    """`/name rest`, addressed to us."""

    name: str
    rest: str


def body_of(update: Json) -> Json:
    """The object that an update of a kind we handle is about: of a button, the message it hangs under."""
    for kind in ("message", *NOTED, "stopped_message_generation"):
        if isinstance(update.get(kind), dict):
            body: Json = update[kind]
            return body
    query = update.get("callback_query")
    message = query.get("message") if isinstance(query, dict) else None
    return message if isinstance(message, dict) else {}


def chat_of(update: Json) -> Json | None:
    """The chat that an update of a kind we handle belongs to."""
    chat = body_of(update).get("chat")
    return chat if isinstance(chat, dict) and isinstance(chat.get("id"), int) else None


def topic_of(message: Json) -> int:
    """The topic of a message; 0 outside topics. A reply inside General carries a thread id that is none.

    1 is General in a forum; in a private chat it is a topic like any other.
    """
    topic, chat = message.get("message_thread_id"), message.get("chat") or {}
    general = 0 if chat.get("type") == "private" else 1
    return topic if message.get("is_topic_message") and isinstance(topic, int) and topic > general else 0


def sender_of(update: Json) -> int:
    """The user who caused an update (who left a group, whoever sent them away); 0 when nobody known did."""
    body = body_of(update)
    if "stopped_message_generation" in update:
        chat = chat_of(update) or {}
        return int(chat["id"]) if chat.get("type") == "private" else 0
    query = update.get("callback_query")
    acting = query if isinstance(query, dict) else body
    sender = acting.get("user" if "message_reaction" in update else LEFT if LEFT in acting else "from")
    return sender["id"] if isinstance(sender, dict) and isinstance(sender.get("id"), int) else 0


def commanded(message: Json) -> re.Match[str] | None:
    """The command that a message is, whichever bot it is for. Most captions are none."""
    match = None if is_foreign(message) else COMMAND.match(text_of(message))
    if match and "text" not in message and not ("document" in message and match[1].lower() in WITH_DOCUMENT):
        return None
    return match


def command_of(message: Json, bot: Bot) -> Command | None:
    """The command that a message is, when it is one for us."""
    match = commanded(message)
    if not match or (match[2] and match[2].lower() != bot.username.lower()):
        return None
    return Command(match[1].lower(), (match[3] or "").strip())


def may_answer(message: Json, bot: Bot) -> bool:
    """Whether a message may answer a question of ours: it replies to what looks like one. The database knows."""
    target = message.get("reply_to_message") or {}
    if not ("text" in message or "document" in message) or is_foreign(message) or command_of(message, bot):
        return False
    return (target.get("from") or {}).get("id") == bot.id and bool(ASKED.match(text_of(target)))


def may_correct(message: Json, bot: Bot) -> bool:
    """Whether a message may say what was really said in a recording: it replies to what looks like its echo, and quotes
    no part of it. The database knows."""
    target, quote = message.get("reply_to_message") or {}, message.get("quote") or {}
    if "text" not in message or quote.get("is_manual") or is_foreign(message) or command_of(message, bot):
        return False
    return (target.get("from") or {}).get("id") == bot.id and text_of(target).startswith(HEARD)


def addressed(message: Json, bot: Bot) -> bool:
    """Whether a group message is for the bot: it mentions it, replies to it or commands it."""
    reply = message.get("reply_to_message") or {}
    if (reply.get("from") or {}).get("id") == bot.id and "forum_topic_created" not in reply:
        return True
    if command_of(message, bot):
        return True
    if not bot.username:
        return False
    return bool(re.search(rf"@{re.escape(bot.username)}\b", text_of(message), re.IGNORECASE))


def for_bot(messages: Sequence[Json], bot: Bot) -> list[Json]:
    """Those of some group messages that are for the bot: an album is, with all its parts, when one of them is."""
    albums = {album_of(message) for message in messages if addressed(message, bot)} - {""}
    return [message for message in messages if addressed(message, bot) or album_of(message) in albums]


def album_of(message: Json) -> str:
    """What the parts of an album have in common; empty for what is none."""
    return str(message.get("media_group_id") or "")


def hold_of(message: Json) -> float:
    """Seconds to wait for what may belong to a message."""
    if album_of(message):
        return ALBUM_SECONDS
    return PASTE_SECONDS if len(message.get("text") or "") >= PASTE_LENGTH else 0.0


def sort_update(update: Json, bot: Bot, named: frozenset[int], group_open: bool) -> Json:
    """An update as the queue takes it: its kind (see `kind_of`), lane, user and how long it waits.

    `named`: whom the settings let in. Who else is, the database knows: it keeps nothing of a stranger's update but its
    number, and no event tells of it. `group_open`: every message of its group may be for the bot; whether it is shows
    later, so the event log gets none of its text.
    """
    chat, user_id = chat_of(update), sender_of(update)
    row: Json = {"update_id": update["update_id"], "kind": "ignored", "user_id": user_id or None}
    row["known"] = user_id in named
    kind = kind_of(update, chat, user_id, bot, group_open)
    if kind == "ignored" or chat is None:
        return row | {"event": "ignored"}
    check_shape(update)
    if started := start_of(update, chat, user_id, bot):
        update, row["start"] = started
    elif not row["known"] and (knocked := knock_of(update, chat, bot)):
        row["knock"] = knocked
    body = body_of(update)
    stopped = "stopped_message_generation" in update
    topic = body.get("message_thread_id") or 0 if stopped else topic_of(body)
    row |= {"kind": kind, "chat_id": chat["id"], "topic_id": topic, "payload": update, "redacted": redacted(update)}
    if "message" in update:
        row |= {
            "said": kind != "control" and command_of(body, bot) is None,
            "telegram_message_id": body.get("message_id"),
            "hold": hold_of(body),
            "mergeable": kind != "control"
            and command_of(body, bot) is None
            and not may_answer(body, bot)
            and not may_correct(body, bot),
        }
    if "edited_message" in update:
        row["said"] = True
    if "callback_query" in update:  # what stands in the message above the button is in the record already
        query = update["callback_query"]
        pressed = {"chat_id": chat["id"], "message_id": body.get("message_id")}
        row["redacted"] = {"id": query.get("id"), "data": query.get("data"), **pressed}
    elif chat["type"] != "private" and (
        "edited_message" in update or ("message" in update and not addressed(body, bot))
    ):
        row["redacted"] = {"message_id": body.get("message_id")}
    return row


def check_shape(update: Json) -> None:
    """Raises `ValueError` for an update that lacks what every update of its kind has, or holds something else in its
    place: what comes after this does not look again."""
    if not all(isinstance(update[kind], dict) for kind in ALLOWED_UPDATES if kind in update):
        raise ValueError("not an object")
    body = body_of(update)
    numbered = not update.keys() & {"my_chat_member", "stopped_message_generation"}
    if not is_shaped(body) or (numbered and "message_id" not in body):
        raise ValueError("not a message")
    if "callback_query" in update and not isinstance(update["callback_query"].get("id"), str):
        raise ValueError("not a press")
    if "edited_message" in update and "date" not in body:
        raise ValueError("not an edit")


def is_number(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number of 64 bits, as Telegram's are."""
    return type(value) is int and -(2**63) <= value < 2**63


def is_shaped(message: Json) -> bool:
    """Whether the numbers in a message are such as fit 64 bits, and its objects objects, in the same way."""
    numbers = [message[name] for name in NUMBERS if name in message]
    objects = [message[name] for name in OBJECTS if message.get(name) is not None]
    return all(map(is_number, numbers)) and all(isinstance(one, dict) and is_shaped(one) for one in objects)


def start_of(update: Json, chat: Json, user_id: int, bot: Bot) -> tuple[Json, Json] | None:
    """Pressing Start: the update without what the link carried, which is never stored, and as little else as tells who
    it was; and what may let them in. None when an update is nothing of the kind."""
    message = update.get("message") or {}
    command = command_of(message, bot)
    if command is None or command.name != "start" or chat["type"] != "private" or chat["id"] != user_id:
        return None
    kept = wordless(message) | {"text": "/start"}
    return {"update_id": update["update_id"], "message": kept}, {"hash": digest(command.rest), **names_of(message)}


def knock_of(update: Json, chat: Json, bot: Bot) -> Json | None:
    """Turning to the bot in a group, by a mention or a reply: what may let whom nobody knows ask to be let in, and the
    message without its words; None when an update is nothing of the kind."""
    message = update.get("message") or {}
    match = commanded(message) if message else None
    if chat["type"] == "private" or not message or not addressed(message, bot) or (match and not match[2]):
        return None
    return {**names_of(message), "group": str(chat.get("title") or "a group"), "message": wordless(message)}


def names_of(message: Json) -> Json:
    """What somebody who writes is called."""
    return {"name": name_of(message["from"])[:NAME_LENGTH], "username": message["from"].get("username")}


def wordless(message: Json) -> Json:
    """A message as who wrote it where, and no more."""
    kept: Json = {
        key: message[key] for key in ("message_id", "date", "message_thread_id", "is_topic_message") if key in message
    }
    chat = {key: message["chat"][key] for key in ("id", "type") if key in message["chat"]}
    return kept | {"chat": chat, "from": {key: message["from"][key] for key in WHO if key in message["from"]}}


def kind_of(update: Json, chat: Json | None, user_id: int, bot: Bot, group_open: bool) -> str:
    """turn, control, overheard (in a group, and for the bot only where all is) or ignored, if its sender may use it."""
    if chat is None or not user_id or chat.get("type") not in ("private", "group", "supergroup"):
        return "ignored"
    if "stopped_message_generation" in update:
        return "control"
    if "callback_query" in update:
        data = update["callback_query"].get("data")
        return "turn" if isinstance(data, str) and data.startswith(IN_LANE_BUTTONS) else "control"
    body = body_of(update)
    if any(kind in update for kind in NOTED) or any(event in body for event in (*TOPIC_EVENTS, LEFT)):
        return "control" if is_noted(update, chat) else "ignored"
    if "message" not in update or not says_something(body):
        return "ignored"
    if (body.get("from") or {}).get("is_bot"):
        return "ignored"
    if match := commanded(body):
        if match[2] and match[2].lower() != bot.username.lower():
            return "ignored"
        return "turn" if match[1].lower() in IN_LANE else "control"
    # Which part of an album holds its caption, and whether that is for us, shows when all parts are there.
    waits = group_open or bool(album_of(body))
    return "turn" if chat["type"] == "private" or waits or addressed(body, bot) else "overheard"


def is_noted(update: Json, chat: Json) -> bool:
    """Whether an update that says nothing itself is worth a look: the bot came into a group, or got other rights there;
    a message was edited, a reaction given, a topic named; somebody left."""
    if "my_chat_member" in update:
        status = (update["my_chat_member"].get("new_chat_member") or {}).get("status")
        return chat["type"] != "private" and status in ("member", "administrator", "restricted")
    if "edited_message" in update:
        body = update["edited_message"]
        return bool(text_of(body).strip()) and not COMMAND.match(text_of(body))
    return True
