"""Telegram's updates: who did what, where, and what is for the bot. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.core.frozen import frozen
from relay.memory.claims import ClaimedTurn
from relay.surfaces.telegram.parsing.message_parser import (
    HEARD,
    bare_text_of,
    is_foreign,
    is_forward,
    is_sequel,
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

WITH_DOCUMENT = frozenset({"soul"})
"""Commands that may be the caption of a document, and then read it."""

ALONE = frozenset({"new", "private"})
"""Commands that decide where the messages after them belong. As a caption, they would come too late for its file."""

COMMENT_SECONDS = 2
"""How long after a comment the message forwarded with it may be sent."""

ASKED = re.compile(r"^✎ ([a-z]*) ?(?:#?(\d{1,18}))?")
"""The beginning of a question by the bot: what it asks for, and about which item."""
COMMAND = re.compile(r"^/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+(.*))?$", re.DOTALL)


@frozen
class Bot:
    """Who the bot is on Telegram."""

    id: int
    username: str


@frozen
class Command:
    """A command for this bot: `/name rest`."""

    name: str
    rest: str


def updates_of(turn: ClaimedTurn) -> tuple[Update, ...]:
    """Decodes a turn's updates, oldest first."""
    return tuple(decode_update(raw) for raw in turn.updates)


def message_of(update: Update) -> Message:
    """Returns the message that is new or edited, or has the pressed button; an empty one if there is none."""
    query = update.callback_query
    return update.message or update.edited_message or (query.message if query else Message())


def chat_of(update: Update) -> Chat:
    """Returns the chat of an update; one without a type if it has none."""
    other = update.message_reaction or update.my_chat_member or update.stopped_message_generation
    return other.chat if other else message_of(update).chat


def message_id_of(update: Update) -> int:
    """Returns the id of the message that an update is about; 0 if none."""
    return update.message_reaction.message_id if update.message_reaction else message_of(update).message_id


def topic_of(message: Message) -> int:
    """Returns the topic of a message; 0 outside topics. A reply in General has a thread id that is not a topic. 1 is
    General in a forum, and an ordinary topic in a private chat."""
    general = 0 if message.chat.private else 1
    return message.message_thread_id if message.is_topic_message and message.message_thread_id > general else 0


def is_comment(message: Message) -> bool:
    """Tests whether a group message comments on a channel's post."""
    return message.reply_to_message is not None and message.reply_to_message.is_automatic_forward


def topic_in(update: Update) -> int:
    """Returns the topic of an update; 0 outside topics, and for reactions, which don't name it."""
    stopped = update.stopped_message_generation
    return stopped.message_thread_id if stopped else topic_of(message_of(update))


def sender_of(update: Update) -> int:
    """Returns the user who caused an update (of a departure, the member who left); 0 if unknown."""
    if update.stopped_message_generation:
        chat = chat_of(update)
        return chat.id if chat.private else 0
    sender = _find_actor(update)
    return sender.id if sender else 0


def _find_actor(update: Update) -> User | None:
    if update.message_reaction:
        return update.message_reaction.user
    if acting := update.callback_query or update.my_chat_member:
        return acting.sender
    message = message_of(update)
    return message.left_chat_member or message.sender


def match_command(message: Message) -> re.Match[str] | None:
    """Matches a command for any bot. Captions are commands only for `WITH_DOCUMENT`."""
    match = None if is_foreign(message) else COMMAND.match(bare_text_of(message))
    if match and not message.text and not (message.document and match[1].lower() in WITH_DOCUMENT):
        return None
    return match


def is_for(match: re.Match[str], bot: Bot) -> bool:
    """Tests whether a command names this bot, or none."""
    return not match[2] or match[2].lower() == bot.username.lower()


def command_of(message: Message, bot: Bot) -> Command | None:
    """Returns the command of a message, if it is for this bot."""
    match = match_command(message)
    if not match or not is_for(match, bot):
        return None
    return Command(match[1].lower(), text_of(message, match.start(3)).strip() if match[3] else "")


def find_caption_command(message: Message, bot: Bot) -> str:
    """Returns the command of `ALONE` that is the caption of a file; empty: none."""
    match = COMMAND.match(bare_text_of(message)) if not message.text and not is_foreign(message) else None
    return match[1].lower() if match and is_for(match, bot) and match[1].lower() in ALONE else ""


def may_answer(message: Message, bot: Bot) -> bool:
    """Tests whether a message may answer a question by the bot. The database decides."""
    target = message.reply_to_message
    if not target or not (message.text or message.document) or is_foreign(message) or command_of(message, bot):
        return False
    return target.sender_id == bot.id and bool(ASKED.match(bare_text_of(target)))


def may_correct(message: Message, bot: Bot) -> bool:
    """Tests whether a message may correct a transcript: it replies to one without quoting a part. The database
    decides."""
    target = message.reply_to_message
    if not target or not message.text or is_foreign(message) or command_of(message, bot):
        return False
    quotes = message.quote is not None and message.quote.is_manual
    return not quotes and target.sender_id == bot.id and bare_text_of(target).startswith(HEARD)


def is_addressed(message: Message, bot: Bot) -> bool:
    """Tests whether a group message is for the bot: it mentions it, replies to it or has a command for it."""
    reply = message.reply_to_message
    if reply and reply.sender_id == bot.id and not reply.forum_topic_created:
        return True
    if command_of(message, bot):
        return True
    if not bot.username:
        return False
    return bool(re.search(rf"(?<!\w)@{re.escape(bot.username)}\b", bare_text_of(message), re.IGNORECASE))


def for_bot(messages: Sequence[Message], bot: Bot) -> list[Message]:
    """Returns the group messages that are for the bot. An album, or a text that Telegram split, is for the bot if one
    of its parts is. So is what was forwarded with a message for the bot."""
    texts: list[list[Message]] = []
    for message in messages:
        if texts and is_sequel(texts[-1][-1], message):
            texts[-1].append(message)
        else:
            texts.append([message])
    albums = {message.media_group_id for message in messages if is_addressed(message, bot)} - {""}
    found: list[Message] = []
    ours = False
    for before, parts in zip([[Message()], *texts], texts, strict=False):
        ours = (ours and is_commented(before[-1], parts[0])) or any(
            is_addressed(part, bot) or part.media_group_id in albums for part in parts
        )
        found += parts if ours else []
    return found


def is_commented(before: Message, message: Message) -> bool:
    """Tests whether a message was forwarded with a comment, which Telegram sends as the message before it; or with the
    forward before it."""
    return (
        is_forward(message)
        and 0 < message.message_id - before.message_id <= 2
        and 0 <= message.date - before.date <= COMMENT_SECONDS
    )


def is_event(message: Message) -> bool:
    """Tests whether a message only reports that a topic was named or a member left."""
    return message.forum_topic_created or message.forum_topic_edited or message.left_chat_member is not None
