"""Telegram's updates: which are for us, in which lane they belong, and how the queue takes them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from relay.core.redaction.redact import redact_value
from relay.memory.claims import ClaimedTurn
from relay.memory.people import digest
from relay.memory.rows.turns.inbox import Asking, InboxRow
from relay.surfaces.chat.turn_buttons import is_turn_button
from relay.surfaces.telegram.parsing.message_parser import (
    HEARD,
    PASTE_LENGTH,
    is_foreign,
    name_of,
    says_something,
    text_of,
)
from relay.surfaces.telegram.parsing.objects import Chat, Message, Update, User, decode_update

ALLOWED_UPDATES = (
    "message",
    "edited_message",
    "message_reaction",
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)
NAME_LENGTH = 64

ALBUM_SECONDS = 0.5
PASTE_SECONDS = 1.0

IN_LANE = frozenset({"new", "retry", "two"})
"""Commands that keep their place among the messages; all others act at once."""
WITH_DOCUMENT = frozenset({"soul"})
"""Commands that may be the caption of a document, which they take."""

ASKED = re.compile(r"^✎ ([a-z]*) ?(?:#?(\d{1,18}))?")
"""How a question of ours begins: what it asks for, and about which one."""
COMMAND = re.compile(r"^/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+(.*))?$", re.DOTALL)


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


def updates_of(turn: ClaimedTurn) -> tuple[Update, ...]:
    """A turn's updates, oldest first."""
    return tuple(decode_update(raw) for raw in turn.updates)


def message_of(update: Update) -> Message:
    """The message that an update brings or changes, or under which a button was pressed; an empty one for none."""
    query = update.callback_query
    return update.message or update.edited_message or (query.message if query else Message())


def chat_of(update: Update) -> Chat:
    """The chat that an update belongs to; one without a type when there is none."""
    other = update.message_reaction or update.my_chat_member or update.stopped_message_generation
    return other.chat if other else message_of(update).chat


def message_id_of(update: Update) -> int:
    """The message that an update is about; 0 for none."""
    return update.message_reaction.message_id if update.message_reaction else message_of(update).message_id


def topic_of(message: Message) -> int:
    """The topic of a message; 0 outside topics. A reply inside General carries a thread id that is none.

    1 is General in a forum; in a private chat it is a topic like any other.
    """
    general = 0 if message.chat.private else 1
    return message.message_thread_id if message.is_topic_message and message.message_thread_id > general else 0


def topic_in(update: Update) -> int:
    """The topic that an update belongs to; 0 outside topics, and for a reaction, which does not tell."""
    stopped = update.stopped_message_generation
    return stopped.message_thread_id if stopped else topic_of(message_of(update))


def sender_of(update: Update) -> int:
    """The user who caused an update (who left a group, whoever sent them away); 0 when nobody known did."""
    if update.stopped_message_generation:
        chat = chat_of(update)
        return chat.id if chat.private else 0
    sender = _acting(update)
    return sender.id if sender else 0


def _acting(update: Update) -> User | None:
    if update.message_reaction:
        return update.message_reaction.user
    if acting := update.callback_query or update.my_chat_member:
        return acting.sender
    message = message_of(update)
    return message.left_chat_member or message.sender


def commanded(message: Message) -> re.Match[str] | None:
    """The command that a message is, whichever bot it is for. Most captions are none."""
    match = None if is_foreign(message) else COMMAND.match(text_of(message))
    if match and not message.text and not (message.document and match[1].lower() in WITH_DOCUMENT):
        return None
    return match


def command_of(message: Message, bot: Bot) -> Command | None:
    """The command that a message is, when it is one for us."""
    match = commanded(message)
    if not match or (match[2] and match[2].lower() != bot.username.lower()):
        return None
    return Command(match[1].lower(), (match[3] or "").strip())


def may_answer(message: Message, bot: Bot) -> bool:
    """Whether a message may answer a question of ours: it replies to what looks like one. The database knows."""
    target = message.reply_to_message
    if not target or not (message.text or message.document) or is_foreign(message) or command_of(message, bot):
        return False
    return target.sender_id == bot.id and bool(ASKED.match(text_of(target)))


def may_correct(message: Message, bot: Bot) -> bool:
    """Whether a message may say what was really said in a recording: it replies to what looks like its echo, and quotes
    no part of it. The database knows."""
    target = message.reply_to_message
    if not target or not message.text or is_foreign(message) or command_of(message, bot):
        return False
    quotes = message.quote is not None and message.quote.is_manual
    return not quotes and target.sender_id == bot.id and text_of(target).startswith(HEARD)


def addressed(message: Message, bot: Bot) -> bool:
    """Whether a group message is for the bot: it mentions it, replies to it or commands it."""
    reply = message.reply_to_message
    if reply and reply.sender_id == bot.id and not reply.forum_topic_created:
        return True
    if command_of(message, bot):
        return True
    if not bot.username:
        return False
    return bool(re.search(rf"@{re.escape(bot.username)}\b", text_of(message), re.IGNORECASE))


def for_bot(messages: Sequence[Message], bot: Bot) -> list[Message]:
    """Those of some group messages that are for the bot: an album is, with all its parts, when one of them is."""
    albums = {message.media_group_id for message in messages if addressed(message, bot)} - {""}
    return [message for message in messages if addressed(message, bot) or message.media_group_id in albums]


def hold_of(message: Message) -> float:
    """Seconds to wait for what may belong to a message."""
    if message.media_group_id:
        return ALBUM_SECONDS
    return PASTE_SECONDS if len(message.text) >= PASTE_LENGTH else 0.0


def sort_update(update: Update, bot: Bot, named: frozenset[int], group_open: bool) -> InboxRow:
    """An update as the queue takes it. Raises `ValueError` for one that lacks what every update of its kind has.

    `named`: whom the settings let in. Who else is, the database knows: it keeps nothing of a stranger's update but its
    number, and no event tells of it. `group_open`: every message of its group may be for the bot; whether it is shows
    later, so the event log gets none of its text.
    """
    chat, user_id, message = chat_of(update), sender_of(update), message_of(update)
    row = InboxRow(update.update_id, kind_of(update, user_id, bot, group_open), user_id or None, user_id in named)
    if row.kind == "ignored":
        return replace(row, event="ignored")
    unnumbered = update.my_chat_member or update.stopped_message_generation
    if not (unnumbered or message_id_of(update)) or (update.edited_message and not message.date):
        raise ValueError("not a message")
    if sum(getattr(update, kind) is not None for kind in ALLOWED_UPDATES) != 1:
        raise ValueError("not one update")
    row = replace(row, chat_id=chat.id, topic_id=topic_in(update), payload=update.raw)
    if start := start_of(update, user_id, bot):
        row = replace(row, start=start, payload={"update_id": update.update_id, "message": pressed_start(message)})
    elif not row.known and (knock := knock_of(update, bot)):
        row = replace(row, knock=knock)
    row = replace(row, redacted=logged(update, row, bot))
    if update.edited_message:
        return replace(row, said=True)
    if not update.message:
        return row
    said = row.kind != "control" and command_of(message, bot) is None
    return replace(
        row,
        said=said,
        telegram_message_id=message.message_id,
        hold=hold_of(message),
        mergeable=said and not may_answer(message, bot) and not may_correct(message, bot),
    )


def logged(update: Update, row: InboxRow, bot: Bot) -> object:
    """What the event log gets of an update: no secrets, nothing of the message above a button, which is in the record
    already, and no text of a group's message that may not be for the bot."""
    if query := update.callback_query:
        pressed = {"id": query.id, "data": query.data or None}
        return pressed | {"chat_id": row.chat_id, "message_id": query.message.message_id}
    overheard = update.edited_message or (update.message and not addressed(update.message, bot))
    if overheard and not chat_of(update).private:
        return {"message_id": message_id_of(update)}
    return redact_value(row.payload)


def start_of(update: Update, user_id: int, bot: Bot) -> Asking | None:
    """Who presses Start in their own chat, with a digest of what the link carried; None for anything else."""
    message = update.message
    command = command_of(message, bot) if message else None
    if not message or command is None or command.name != "start":
        return None
    if not message.chat.private or message.chat.id != user_id:
        return None
    return replace(asking(message), hash=digest(command.rest))


def knock_of(update: Update, bot: Bot) -> Asking | None:
    """Who turns to the bot in a group, by a mention or a reply: what may let whom nobody knows ask to be let in, with
    the message without its words; None for anything else."""
    message = update.message
    if not message or message.chat.private or not addressed(message, bot):
        return None
    if (match := commanded(message)) and not match[2]:
        return None
    return replace(asking(message), group=message.chat.title or "a group", message=wordless(message))


def asking(message: Message) -> Asking:
    """What somebody who writes is called."""
    sender = message.sender or User()
    return Asking(name_of(sender)[:NAME_LENGTH], sender.username or None)


def pressed_start(message: Message) -> dict[str, object]:
    """Pressing Start, without what the link carried, which is never stored."""
    return wordless(message) | {"text": "/start"}


def wordless(message: Message) -> dict[str, object]:
    """A message as who wrote it where, and no more."""
    sender = message.sender or User()
    who = {
        "id": sender.id, "first_name": sender.first_name, "last_name": sender.last_name, "username": sender.username,
    }  # fmt: skip
    kept = {
        "message_id": message.message_id,
        "date": message.date,
        "message_thread_id": message.message_thread_id,
        "is_topic_message": message.is_topic_message,
        "chat": {"id": message.chat.id, "type": message.chat.type},
        "from": {name: value for name, value in who.items() if value},
    }
    return {name: value for name, value in kept.items() if value}


def kind_of(update: Update, user_id: int, bot: Bot, group_open: bool) -> str:
    """What becomes of an update, if its sender may use the bot: see `InboxRow.kind`."""
    chat, message = chat_of(update), message_of(update)
    if not user_id or chat.type not in ("private", "group", "supergroup"):
        return "ignored"
    if update.stopped_message_generation:
        return "control"
    if update.callback_query:
        return "turn" if is_turn_button(update.callback_query.data) else "control"
    if not update.message or is_event(message):
        return "control" if is_noted(update) else "ignored"
    if not says_something(message) or (message.sender and message.sender.is_bot):
        return "ignored"
    if match := commanded(message):
        if match[2] and match[2].lower() != bot.username.lower():
            return "ignored"
        return "turn" if match[1].lower() in IN_LANE else "control"
    # Which part of an album holds its caption, and whether that is for us, shows when all parts are there.
    waits = group_open or bool(message.media_group_id)
    return "turn" if chat.private or waits or addressed(message, bot) else "overheard"


def is_event(message: Message) -> bool:
    """Whether a message tells that a topic was named, or that somebody left, and says nothing itself."""
    return message.forum_topic_created or message.forum_topic_edited or message.left_chat_member is not None


def is_noted(update: Update) -> bool:
    """Whether an update that says nothing itself is worth a look: the bot came into a group, or got other rights there;
    a message was edited, a reaction given, a topic named; somebody left."""
    if member := update.my_chat_member:
        return not member.chat.private and (member.new_chat_member.status if member.new_chat_member else "") in (
            "member",
            "administrator",
            "restricted",
        )
    if edited := update.edited_message:
        return bool(text_of(edited).strip()) and not COMMAND.match(text_of(edited))
    return True
