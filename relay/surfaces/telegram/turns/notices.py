"""Notices outside of answers: queued messages that are due, and apologies for messages that failed."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from relay.commands.context import Services
from relay.core.errors import MessengerError
from relay.core.models import Rows
from relay.core.ports import Messenger
from relay.core.text import escape_markdown
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Message, Part, QueuedMessage
from relay.memory.store import Store
from relay.surfaces.chat.changes import first_rows, memory_line
from relay.surfaces.chat.contexts.composition import composed_page
from relay.surfaces.chat.contexts.pruning import undo_rows
from relay.surfaces.chat.contexts.version import describe_made
from relay.surfaces.chat.memory.decisions import question_rows
from relay.surfaces.chat.reminders.made import told_rows
from relay.surfaces.chat.soul.growth import idea_rows
from relay.surfaces.telegram.outgoing.insist import call_until_answered
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.outgoing.requests import is_topic_gone
from relay.surfaces.telegram.parsing.objects import Chat
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.turns.announcements import announce, correct
from relay.surfaces.telegram.turns.understand import ParsedTurn, lane_of

log = structlog.get_logger()

APOLOGY = "⚠️ Something went wrong and I couldn't answer this message. I've let my admins know."
UNDELIVERED = "⚠️ Telegram refused some or all of my answer to this. I've let my admins know."
TOPIC_REFUSED = (
    "⚠️ Telegram refused some or all of my answer to you in {}, because its topic is closed or deleted. I've let my "
    "admins know."
)


async def describe_undelivered(services: Services, turn: ClaimedTurn, reason: str) -> list[Message]:
    """Returns what the person and the admins are told about a reply that Telegram refused. If a group's topic is closed
    or deleted, the person is told in their own chat, without what the reply says."""
    what = f"was answered, but Telegram refused part of it: {reason}"
    notes = await describe_trouble(services, turn, UNDELIVERED, what)
    chat = lane_of(turn)[0] if notes else Chat()
    if chat.private or not is_topic_gone(reason):
        return notes
    where = f"“{escape_markdown(chat.title)}”" if chat.title else "the group"
    text, user_id = TOPIC_REFUSED.format(where), turn.user_id
    return [Message(chat_id=user_id, user_id=user_id, text=text, key=notes[0].key), *notes[1:]]


async def describe_trouble(services: Services, turn: ClaimedTurn, line: str, what: str) -> list[Message]:
    """Returns `line` for the turn's chat, and for each admin a message that says `what` happened. Nothing for a turn
    without updates."""
    if not turn.updates:
        return []
    chat, topic_id, message_id = lane_of(turn)
    key = f"trouble {turn.turn_id}"
    await services.people.refresh(services.store)
    text = f"⚠️ A message in {chat.title or 'a private chat'} (turn {turn.turn_id}) {what}"
    here = Message(
        chat_id=chat.id, topic_id=topic_id, user_id=turn.user_id, text=line, reply_to=message_id, key=f"{key} here"
    )
    admins = sorted(services.people.admins)
    return [
        here,
        *(Message(chat_id=one, user_id=one, text=escape_markdown(text), key=f"{key} {one}") for one in admins),
    ]


def describe_refused(turn: ClaimedTurn, message: QueuedMessage, reason: str) -> list[Message]:
    """Returns what a person is told in their own chat about a reminder that Telegram refused in a group, for example
    because its topic was deleted. Nothing for other messages."""
    if not message.reminders or message.chat_id >= 0:
        return []
    text = f"⚠️ I couldn't remind you in the group: {escape_markdown(reason)}\n\n{message.text}"
    return [Message(chat_id=turn.user_id, user_id=turn.user_id, text=text, key=f"refused {turn.turn_id}")]


async def describe_gone(services: Services, turn_id: int, chat_id: int, reason: str) -> list[Message]:
    """Returns a message to each admin: a chat is gone, so its reminders wait, or in a group have ended."""
    await services.people.refresh(services.store)
    chat = "a group" if chat_id < 0 else f"user {chat_id}"
    so = "so I've ended the reminders there" if chat_id < 0 else "so their reminders wait until they come back"
    text = f"⚠️ I can't reach {chat} any more ({reason}), {so}."
    return [
        Message(chat_id=one, user_id=one, text=escape_markdown(text), key=f"gone {turn_id} {one}")
        for one in sorted(services.people.admins - {chat_id})
    ]


async def make_queued_parts(
    store: Store, messenger: Messenger, bot_id: int, turn: ClaimedTurn, message: QueuedMessage
) -> Sequence[Part]:
    """Returns the parts that a turn with a queued message sends."""
    if turn.status == "answered":
        return turn.parts
    if message.under_turn_id is not None and message.corrects:
        await correct(store, messenger, bot_id, message.under_turn_id)
        return []
    if message.names_after is not None:
        await name_topic(store, messenger, bot_id, message)
        return []
    if message.under_turn_id is not None:
        return await announce(store, messenger, bot_id, turn, message.under_turn_id)
    place = Place(message.chat_id, message.topic_id, message.chat_id >= 0, message.reply_to)
    if message.composition is not None:
        page = composed_page(message.composition)
        return message_parts(page.text, place, page.rows, silent=False)
    if message.version is not None:
        told = describe_made(message.version)
        return message_parts(told.text or "", place, told.rows or [], silent=False)
    return message_parts(message.text, place, rows_under(message), silent=not message.sound)


async def name_topic(store: Store, messenger: Messenger, bot_id: int, message: QueuedMessage) -> None:
    """Names a private topic after its first session, once: if Telegram refuses, the topic keeps its name."""
    if not message.topic_name:
        return
    chat_id, topic_id, name = message.chat_id, message.topic_id, message.topic_name
    try:
        await call_until_answered(messenger, "editForumTopic", chat_id=chat_id, message_thread_id=topic_id, name=name)
    except MessengerError as error:
        log.info("topic not renamed", chat_id=chat_id, topic_id=topic_id, error=str(error))
        return
    await store.topic_renamed(bot_id, chat_id, topic_id, name)


def rows_under(message: QueuedMessage) -> Rows:
    """Returns the buttons under a queued message."""
    if message.rows:
        return message.rows
    if message.consolidation_id is not None:
        return question_rows(message.consolidation_id)
    if message.idea_id is not None:
        return idea_rows(message.idea_id)
    if message.dropped_version is not None:
        return undo_rows(message.dropped_version)
    return told_rows(message.reminders)


def notice_parts(understood: ParsedTurn) -> list[Part]:
    """Returns the line sent in place of an answer, with the memory changes it is about."""
    changes, turn_id = understood.changes, understood.changed_by
    buttons, footer = first_rows(changes, turn_id), memory_line(changes, [])
    return message_parts(understood.notice or "", understood.place, buttons, footer, silent=True)
