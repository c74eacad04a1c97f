"""Sorts updates into queue rows: their kind, how long they wait for more, and what the event log gets. Pure."""

from __future__ import annotations

from dataclasses import replace

from relay.core.redaction.redact import redact_value
from relay.memory.people import digest
from relay.memory.rows.turns.inbox import Asking, InboxRow
from relay.surfaces.chat.contexts.composition import BeginWith
from relay.surfaces.chat.turn_buttons import is_turn_button
from relay.surfaces.telegram.parsing.attachments import attachment_of
from relay.surfaces.telegram.parsing.message_parser import (
    bare_text_of,
    is_foreign,
    is_full,
    name_of,
    says_something,
)
from relay.surfaces.telegram.parsing.objects import Message, Update, User
from relay.surfaces.telegram.parsing.updates import (
    ALLOWED_UPDATES,
    COMMAND,
    Bot,
    chat_of,
    command_of,
    is_addressed,
    is_event,
    is_for,
    match_command,
    may_answer,
    may_correct,
    message_id_of,
    message_of,
    sender_of,
    topic_in,
)

NAME_LENGTH = 64
ALBUM_SECONDS = 0.5
PASTE_SECONDS = 1.0

IN_LANE = frozenset({"new", "retry", "two"})
"""Commands that keep their place among the messages; all others act at once."""
BUTTONS_IN_LANE = frozenset({BeginWith.code})
"""Buttons that do so, too, besides those that ask for another answer."""


def hold_of(message: Message) -> float:
    """Returns the seconds to wait for further parts of a message."""
    if message.media_group_id:
        return ALBUM_SECONDS
    return PASTE_SECONDS if is_full(message) else 0.0


def sort_update(update: Update, bot: Bot, named: frozenset[int], group_open: bool) -> InboxRow:
    """Returns the queue row of an update. Raises `ValueError` if the update lacks required parts of its kind.

    `named`: the people whom the settings admit. The database knows the others; of a stranger's update it keeps only
    the number, without an event. `group_open`: every message of its group may be for the bot. That is decided later,
    so the event log gets none of its text.
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
        stored = strip_words(message) | {"text": "/start"}  # without the link's payload, which is never stored
        row = replace(row, start=start, payload={"update_id": update.update_id, "message": stored})
    elif not row.known and (knock := knock_of(update, bot)):
        row = replace(row, knock=knock)
    row = replace(row, redacted=make_log_entry(update, row, bot))
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


def make_log_entry(update: Update, row: InboxRow, bot: Bot) -> object:
    """Returns what the event log gets of an update: no secrets, nothing of the message above a button (the record has
    it already), and no text of a group message that may not be for the bot."""
    if query := update.callback_query:
        pressed = {"id": query.id, "data": query.data or None}
        return pressed | {"chat_id": row.chat_id, "message_id": query.message.message_id}
    overheard = update.edited_message or (update.message and not is_addressed(update.message, bot))
    if overheard and not chat_of(update).private:
        return {"message_id": message_id_of(update)}
    return redact_value(row.payload)


def start_of(update: Update, user_id: int, bot: Bot) -> Asking | None:
    """Returns who pressed Start in their own chat, with a digest of the link's payload; None for other updates."""
    message = update.message
    command = command_of(message, bot) if message else None
    if not message or command is None or command.name != "start":
        return None
    if not message.chat.private or message.chat.id != user_id:
        return None
    return replace(describe_sender(message), hash=digest(command.rest))


def knock_of(update: Update, bot: Bot) -> Asking | None:
    """Returns who addressed the bot in a group, by a mention or a reply, and the message without its text; None for
    other updates. A stranger may ask for access this way."""
    message = update.message
    if not message or message.chat.private or not is_addressed(message, bot):
        return None
    if (match := match_command(message)) and not match[2]:
        return None
    return replace(describe_sender(message), group=message.chat.title or "a group", message=strip_words(message))


def describe_sender(message: Message) -> Asking:
    """Returns the name and username of a message's sender."""
    sender = message.sender or User()
    return Asking(name_of(sender)[:NAME_LENGTH], sender.username or None)


def strip_words(message: Message) -> dict[str, object]:
    """Returns a message reduced to its sender, place and date."""
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
    """Returns the kind of an update whose sender may use the bot: see `InboxRow.kind`."""
    chat, message = chat_of(update), message_of(update)
    if not user_id or chat.type not in ("private", "group", "supergroup") or chat.is_direct_messages:
        return "ignored"
    if update.stopped_message_generation:
        return "control"
    if query := update.callback_query:
        in_lane = is_turn_button(query.data) or query.data.split(":")[0] in BUTTONS_IN_LANE
        return "turn" if in_lane else "control"
    if not update.message or is_event(message):
        return "control" if is_noted(update) else "ignored"
    if not says_something(message) or message.sender_chat or (message.sender and message.sender.is_bot):
        return "ignored"
    if match := match_command(message):
        if not is_for(match, bot):
            return "ignored"
        return "turn" if match[1].lower() in IN_LANE else "control"
    # Any part of an album or a long text may address us, so whether it does is decided once all parts are there.
    waits = group_open or bool(message.media_group_id) or (is_full(message) and not is_foreign(message))
    return "turn" if chat.private or waits or is_addressed(message, bot) else "overheard"


def is_noted(update: Update) -> bool:
    """Whether to handle an update that is not a new message: the bot joined a group or got other rights there, a person
    no longer blocks it, a message was edited, a reaction given, a topic named, or a member left."""
    if member := update.my_chat_member:
        now = member.new_chat_member.status if member.new_chat_member else ""
        return now in ("member", "administrator", "restricted")
    if edited := update.edited_message:
        said = bool(bare_text_of(edited).strip()) or attachment_of(edited) is not None
        return said and not COMMAND.match(bare_text_of(edited))
    return True
