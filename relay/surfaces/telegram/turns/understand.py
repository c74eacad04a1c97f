"""Reads a claimed turn's updates as an `Incoming`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from relay.core import metrics
from relay.core.errors import MessengerError
from relay.core.frozen import frozen
from relay.core.limits import MESSAGE_LENGTH
from relay.core.models import Incoming, Space, Thread
from relay.core.ports import Messenger
from relay.memory.claims import ClaimedTurn
from relay.memory.contexts.markers import marker_notes
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.turns.edits import RetryState
from relay.memory.store import Store
from relay.surfaces.chat import turn_buttons
from relay.surfaces.chat.callbacks import decode
from relay.surfaces.chat.changes import changes_keyboard
from relay.surfaces.chat.dispatch import TOO_OLD, refuse_words
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.outgoing.delivery import OVERHEARD
from relay.surfaces.telegram.outgoing.requests import inline_keyboard
from relay.surfaces.telegram.parsing.message_parser import (
    find_date,
    find_reply,
    join_blocks,
    name_of,
    parts_of,
    refusals_of,
    says_something,
    words_of,
)
from relay.surfaces.telegram.parsing.objects import CallbackQuery, Chat, Message, User
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import (
    Bot,
    Command,
    chat_of,
    command_of,
    find_caption_command,
    for_bot,
    is_comment,
    may_answer,
    message_id_of,
    message_of,
    topic_in,
    topic_of,
    updates_of,
)
from relay.surfaces.telegram.turns.echo import correct_transcript

ANSWERING = "I'm answering the new version…"
MORE_SAID = "The conversation has moved on. Please ask again in a new message."
BY_ITSELF = "Please send /{0} by itself first, and then the file. I haven't read it."
LATE = f"Thanks, I've noted what you actually said. {MORE_SAID}"
STAYS = "What I learned from what I first heard stays unless you undo it:"


@frozen
class ParsedTurn:
    """The meaning of a turn's updates: an input to answer, a command to run in its lane, or a notice."""

    place: Place
    incoming: Incoming | None = None
    command: str | None = None
    notice: str | None = None
    changes: Sequence[MemoryChange] = ()
    """The memory changes that the notice is about, which can be undone."""
    changed_by: int = 0
    """The turn that made the changes."""
    wanted: str = ""
    """The model that /retry names, as the person wrote it."""


def lane_of(turn: ClaimedTurn) -> tuple[Chat, int, int]:
    """Returns the chat, topic and last message (0: none) of a turn's updates."""
    last = updates_of(turn)[-1]
    chat = chat_of(last)
    return chat if chat.type else Chat(0, "private"), topic_in(last), message_id_of(last)


@metrics.time_stage("understand")
async def understand(turn: ClaimedTurn, bot: Bot, groups: Groups, messenger: Messenger, store: Store) -> ParsedTurn:
    """Reads a turn's updates. Ignores group messages that are not addressed to the bot."""
    group = Space("group", chat_id=lane_of(turn)[0].id)
    if turn.linked_to == turn.user_id and not await groups.sees(group, turn.user_id):
        turn = replace(turn, linked_to=None)  # a person who has left a group no longer lends it anything
    updates = updates_of(turn)
    if query := updates[0].callback_query:
        return await understand_press(turn, query, bot, groups, messenger, store)
    chat, topic_id, _ = lane_of(turn)
    messages = [message_of(update) for update in updates]
    space, everything = await groups.space_of(chat, turn.user_id)
    if turn.answers == "addressed" or not (everything or turn.answers == "all"):
        messages = for_bot(messages, bot)
    reply_to = messages[-1].message_id if messages and (not chat.private or len(messages) > 1) else None
    place = Place(chat.id, topic_id, chat.private, reply_to, bool(messages) and is_comment(messages[-1]))
    if not messages:
        return ParsedTurn(place)
    command = command_of(messages[0], bot)
    if (began := read_beginning(command, messages, bot, place)) is not None:
        return began
    if await find_question(messages[0], bot, store):
        return ParsedTurn(place, command="reply")
    if correction := await correct_transcript(turn, messages[0], bot, messenger, store):
        if not correction.last:
            return await late(turn, place, space, correction.answered, store)
        nothing = unsaid(turn, bot, place, space, messages[0].sender)
        return ParsedTurn(place, replace(nothing, retry=True, retry_turn=correction.turn_id, replaces=True))
    blocks = join_blocks(messages, turn.user_id, bot.id)
    if turn.off_record:
        blocks = [{**one, "file": {**one["file"], "kept": False}} if "file" in one else one for one in blocks]
    refusals = [*(line for message in messages for line in refusals_of(message)), *marker_notes(blocks)]
    if not blocks:
        return ParsedTurn(place, notice=next(iter(refusals), None))
    two = command is not None and command.name == "two"
    retry = two or (command is not None and command.name == "retry")
    incoming = replace(
        unsaid(turn, bot, place, space, messages[-1].sender),
        text="\n".join(words_of(message) for message in messages).strip()[:MESSAGE_LENGTH],
        blocks=blocks,
        untrusted=any(block.get("untrusted") for block in blocks),
        telegram_message_ids=[message.message_id for message in messages],
        parts=parts_of(messages, turn.user_id, bot.id) if len(messages) > 1 else [],
        at=find_date(messages[-1]),
        reply_to=find_reply(messages, turn.user_id, bot.id),
        retry=retry,
        retry_turn=await find_replied_turn(messages[0], place, space, bot, store) if retry else None,
        two=two,
        notices=tuple(dict.fromkeys(refusals)),
    )
    return ParsedTurn(place, incoming, wanted=command.rest if command is not None and retry and not two else "")


def read_beginning(command: Command | None, messages: Sequence[Message], bot: Bot, place: Place) -> ParsedTurn | None:
    """Returns the turn of a command that begins a conversation, or the refusal of words that a command doesn't take, or
    of a caption that can't be a command. None: it is none of these."""
    if command is not None and command.name == "new":
        return ParsedTurn(place, command="new")
    if command is not None and (refusal := refuse_words(command.name, command.rest)):
        return ParsedTurn(place, notice=refusal)
    named = next(filter(None, (find_caption_command(message, bot) for message in messages)), "")
    return ParsedTurn(place, notice=BY_ITSELF.format(named)) if named else None


async def understand_press(
    turn: ClaimedTurn, query: CallbackQuery, bot: Bot, groups: Groups, messenger: Messenger, store: Store
) -> ParsedTurn:
    """Reads a press that keeps its place among the messages: it asks for another answer, or acts as a command."""
    if turn_buttons.is_turn_button(query.data):
        return await read_retry(turn, query, bot, groups, messenger, store)
    chat, topic_id, _ = lane_of(turn)
    return ParsedTurn(Place(chat.id, topic_id, chat.private), command="button")


async def find_replied_turn(message: Message, place: Place, space: Space, bot: Bot, store: Store) -> int | None:
    """Returns the turn of the answer that a command replies to; None: it replies to no answer."""
    target = message.reply_to_message
    if target is None or target.forum_topic_created:
        return None
    thread = Thread(space, place.chat_id, place.topic_id)
    return await store.find_answered_turn(bot.id, thread, target.message_id) or None


async def late(turn: ClaimedTurn, place: Place, space: Space, answered: int | None, store: Store) -> ParsedTurn:
    """Returns the notice for a correction that comes too late to answer again. It offers to undo what the old answer
    changed in memory, but not in a shared group, because that memory may be the person's own."""
    alone = space.kind == "private"
    changes = (await store.changes(answered, turn.user_id, False) or []) if answered and alone else []
    standing = [one for one in changes if one.status in ("applied", "pending")]
    notice = f"{LATE} {STAYS}" if standing else LATE
    return ParsedTurn(place, notice=notice, changes=standing, changed_by=answered or 0)


def is_silenced(turn: ClaimedTurn, bot: Bot, admin: bool) -> bool:
    """Whether a turn is ignored because the bot is switched off in its chat. Admins' commands, buttons and Telegram's
    own updates still work."""
    update = updates_of(turn)[0]
    said = update.message or update.edited_message
    if turn.answers != "off" or said is None:
        return False
    return says_something(said) and not (admin and command_of(said, bot))


async def find_question(message: Message, bot: Bot, store: Store) -> str:
    """Returns the question that a message replies to, if its author was asked; empty otherwise."""
    target = message.reply_to_message
    if not may_answer(message, bot) or target is None:
        return ""
    return await store.find_question(bot.id, message.chat.id, target.message_id, message.sender_id or 0)


async def topic_pressed(query: CallbackQuery, bot: Bot, store: Store) -> int:
    """Returns the topic in which a button was pressed. Telegram omits it for old messages, whose date is 0."""
    message = query.message
    if message.date:
        return topic_of(message)
    return await store.topic_of(bot.id, message.chat.id, message.message_id)


async def read_retry(
    turn: ClaimedTurn, query: CallbackQuery, bot: Bot, groups: Groups, messenger: Messenger, store: Store
) -> ParsedTurn:
    """Reads a tap on a button that asks for another answer as the same message once more.

    The Retry and web buttons go, since the new answer has its own. Buttons about memory stay.
    """
    chat, message_id = query.message.chat, query.message.message_id
    place = Place(chat.id, await topic_pressed(query, bot, store), chat.private)
    pressed = decode(query.data)
    of_turn = pressed.turn_id if isinstance(pressed, turn_buttons.TurnButton) else 0
    brings_back = isinstance(pressed, turn_buttons.BringBack | turn_buttons.PreferFirst)
    findings = query.message.text if isinstance(pressed, turn_buttons.AnswerWithCritique) else ""
    replaces = brings_back or isinstance(pressed, turn_buttons.AnswerAgain | turn_buttons.AnswerWithCritique)
    standing = await store.find_standing(of_turn, turn.user_id)
    space, _ = await groups.space_of(chat, turn.user_id)
    before = await store.answer_said(of_turn)
    refusal = "I'm switched off here." if turn.answers == "off" else explain_refusal(standing, replaces)
    if not refusal and before and before.space != space:
        refusal = OVERHEARD
    with contextlib.suppress(MessengerError):
        text = refusal or (ANSWERING if replaces and not brings_back else None)
        await messenger.call("answerCallbackQuery", callback_query_id=query.id, text=text)
    if refusal:
        return ParsedTurn(place)
    if not replaces:
        changes = await store.changes(of_turn, turn.user_id, False) or []
        keyboard = inline_keyboard(changes_keyboard(changes, of_turn, opened=False))
        with contextlib.suppress(MessengerError):
            at = {"chat_id": place.chat_id, "message_id": message_id}
            await messenger.call("editMessageReplyMarkup", **at, reply_markup=keyboard)
    nothing = unsaid(turn, bot, place, space, query.sender)
    web = isinstance(pressed, turn_buttons.AnswerWithWeb)
    again = replace(
        nothing,
        retry=True,
        retry_turn=of_turn,
        web=web,
        two=isinstance(pressed, turn_buttons.AnswerTwice),
        replaces=replaces,
        brings_back=brings_back,
        prefers_first=isinstance(pressed, turn_buttons.PreferFirst),
        critique=findings,
    )
    return ParsedTurn(place, again)


def explain_refusal(standing: RetryState | None, replaces: bool) -> str:
    """Says why a tap for another answer is refused; empty if it is not."""
    if standing is None:
        return TOO_OLD.toast
    if not standing.asked:
        return "Only the person who asked can do that."
    if not standing.stands:
        return "I've already answered this again."
    return "" if not replaces or standing.last else MORE_SAID


def unsaid(turn: ClaimedTurn, bot: Bot, place: Place, space: Space, sender: User | None) -> Incoming:
    """Returns a turn's input without any content yet."""
    return Incoming(
        turn_id=turn.turn_id,
        fence=turn.fence,
        bot_id=bot.id,
        chat_id=place.chat_id,
        topic_id=place.topic_id,
        space=space,
        lent=Space("private", owner_id=turn.user_id)
        if space.kind == "group" and turn.linked_to == turn.user_id
        else None,
        user_id=turn.user_id,
        name=name_of(sender),
        text="",
        blocks=[],
        untrusted=False,
        telegram_message_ids=[],
        at=datetime.now(UTC),
    )
