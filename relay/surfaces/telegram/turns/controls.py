"""Controls: commands, buttons and replies to questions. They run at once and don't wait for the thread's turns."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from weakref import WeakValueDictionary

import structlog

from relay.commands.context import Services
from relay.core.errors import ChatGone, MessengerError
from relay.core.frozen import frozen
from relay.core.models import Button, Space
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part
from relay.surfaces.chat import COMMANDS
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.dispatch import hear_answer, press_button, run_command
from relay.surfaces.chat.memory.remember import keep_marked
from relay.surfaces.chat.reply import NOTHING, ButtonReply, CommandReply
from relay.surfaces.telegram.groups.access_requests import AccessAnnouncer, number_parts
from relay.surfaces.telegram.groups.group_join import GroupGreeter
from relay.surfaces.telegram.groups.groups import Connection
from relay.surfaces.telegram.outgoing.delivery import OVERHEARD
from relay.surfaces.telegram.outgoing.menu import GroupMenus, register_admin, set_menu_button
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.outgoing.replies import redraw_pressed, reply_parts
from relay.surfaces.telegram.parsing.command_message import parse_command_message
from relay.surfaces.telegram.parsing.message_parser import name_of, text_of
from relay.surfaces.telegram.parsing.objects import CallbackQuery, Message, Update, User
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import ASKED, command_of, is_comment, is_event, updates_of
from relay.surfaces.telegram.turns.edits import store_edit
from relay.surfaces.telegram.turns.fair_queue import wait_aside
from relay.surfaces.telegram.turns.reactions import keeps, store_reactions, take_keep
from relay.surfaces.telegram.turns.running import RunningTurns
from relay.surfaces.telegram.turns.understand import find_question, lane_of, topic_pressed

log = structlog.get_logger()

FAILED = "That didn't work. I'll try again in a moment."
PATIENCE_SECONDS = 3.0
"""How long a button press may stay unanswered; Telegram drops it soon after."""
WORKING = "Working on it…"


@frozen
class ControlResult:
    """The result of a control."""

    parts: list[Part]
    """The reply."""
    space: Space | None
    """The space whose memory the reply may show; None: it shows no memory."""


class Controls:
    """Runs commands and buttons."""

    def __init__(self, services: Services, connection: Connection, runs: RunningTurns) -> None:
        self._services = services
        self._messenger = connection.messenger
        self._bot = connection.bot
        self._groups = connection.groups
        self._runs = runs
        self._arrivals = GroupGreeter(services, connection)
        self._newcomers = AccessAnnouncer(services, connection.messenger)
        self._menus = GroupMenus(connection.messenger)
        self._taps: WeakValueDictionary[tuple[int, int], asyncio.Lock] = WeakValueDictionary()

    async def handle(self, turn: ClaimedTurn) -> ControlResult:
        """Runs a control and returns the parts of its reply, if it has one."""
        chat, topic_id, message_id = lane_of(turn)
        place = Place(chat.id, topic_id, chat.private)
        update = updates_of(turn)[0]
        if is_told(update):
            return ControlResult(await self._handle_update(turn, update), None)
        space, _ = await self._groups.space_of(chat, turn.user_id)
        return ControlResult(await self._handle_action(turn, update, place, message_id, space), space)

    async def _handle_update(self, turn: ClaimedTurn, update: Update) -> list[Part]:
        """Handles an update about a chat or a person, which is not a message."""
        message = update.message
        if stopped := update.stopped_message_generation:
            await self._stop(stopped.chat.id, stopped.message_thread_id, stopped.draft_id)
        if update.person and message:
            return await self._newcomers.announce_change(turn, update.person, message)
        if update.my_chat_member and not update.my_chat_member.chat.private:
            return await self._arrivals.announce_change(turn, update.my_chat_member)
        if message and message.left_chat_member:
            return await self._arrivals.announce_leaving(turn, message, message.left_chat_member)
        return []

    async def _handle_action(
        self, turn: ClaimedTurn, update: Update, place: Place, message_id: int, space: Space
    ) -> list[Part]:
        """Handles a button press, an edit, a reaction or a command."""
        if query := update.callback_query:
            place = replace(place, topic_id=await topic_pressed(query, self._bot, self._services.store))
            async with self._one_tap(place.chat_id, message_id):
                return await self._press(turn, update, query, place, space)
        if update.edited_message or update.message_reaction:
            async with self._one_tap(place.chat_id, message_id):
                return await self._handle_event(turn, update, place, space)
        message = update.message
        if not message or is_event(message):
            return []  # a topic's name was stored together with the update
        if not place.private:
            place = Place(place.chat_id, place.topic_id, False, message_id, is_comment(message))
        call = self._call(turn, place, message, message.sender, space)
        return await self._parts(call, await self._run(call, message), place)

    @contextlib.asynccontextmanager
    async def _one_tap(self, chat_id: int, message_id: int) -> AsyncIterator[None]:
        """Lets one tap or edit of each message act at a time, so that its buttons show the final state."""
        alone = self._taps.setdefault((chat_id, message_id), asyncio.Lock())
        if alone.locked():
            wait_aside()
        async with alone:
            yield

    async def _stop(self, chat_id: int, topic_id: int, turn_id: int | None = None) -> bool:
        """Stops the answer being written in a topic, or by a turn of the chat, in this process or another."""
        ended = self._runs.stop(chat_id, topic_id, turn_id)
        if ended is None:
            ended = await self._services.store.ask_stop(self._bot.id, chat_id, topic_id, turn_id)
        return ended

    async def _handle_event(self, turn: ClaimedTurn, update: Update, place: Place, space: Space) -> list[Part]:
        """Handles an edit or a reaction. For a reaction that saves a message, returns the proposal."""
        reaction = update.message_reaction
        if reaction is None:
            await store_edit(update, turn.user_id, self._bot, self._messenger, self._services.store)
            return []
        await store_reactions(reaction, turn.user_id, self._bot, self._services.store)
        await take_keep(reaction, turn.user_id, self._bot, self._messenger, self._services.store)
        if not (turn.choices.reactions and keeps(reaction)):
            return []
        topic_id = await self._services.store.topic_of(self._bot.id, place.chat_id, reaction.message_id)
        place = replace(place, topic_id=topic_id)
        call = self._call(turn, place, Message(), reaction.user, space)
        return await self._parts(call, await keep_marked(call, reaction.message_id), place)

    def _call(
        self, turn: ClaimedTurn, place: Place, message: Message, sender: User | None, space: Space
    ) -> ChatContext:
        return ChatContext(
            services=self._services,
            turn=turn,
            bot_id=self._bot.id,
            space=space,
            chat_id=place.chat_id,
            topic_id=place.topic_id,
            private=place.private,
            user_id=turn.user_id,
            name=name_of(sender),
            admin=self._services.people.role_of(turn) == "admin",
            text=text_of(message),
            messenger=self._messenger,
            said=parse_command_message(message),
            stop=lambda: self._stop(place.chat_id, place.topic_id),
            sees=self._groups.eyes_of(turn.user_id),
        )

    async def _run(self, call: ChatContext, message: Message) -> CommandReply:
        """Runs the command in a message, or handles a reply to a question."""
        if asks := ASKED.match(await find_question(message, self._bot, self._services.store)):
            return await hear_answer(call, asks[1], int(asks[2] or 0))
        named = command_of(message, self._bot)
        if named is None:
            return CommandReply("")  # a service message
        command = COMMANDS.get(named.name)
        if command is None and not call.private and "@" not in call.text.split()[0]:
            return CommandReply("")  # another bot's command
        if command and not call.private and (call.admin or command.admin):
            # An admin may have joined after the bot did; someone who is refused may have been an admin.
            await self._menus.offer(call.chat_id, call.user_id, call.admin)
        if named.name == "start" and call.operator:
            await register_admin(self._messenger, call.chat_id, call.user_id)
        web_url = self._services.installation.web_url
        if named.name == "start" and call.private and web_url:
            await set_menu_button(self._messenger, call.user_id, web_url)
        return await run_command(replace(call, text=named.rest), named.name)

    async def _parts(self, call: ChatContext, told: CommandReply, place: Place) -> list[Part]:
        """Renders a reply for the chat of the command, or for the person's private chat."""
        if told.private and not place.private:
            return await self._send_in_private(call, told, place)
        return await reply_parts(told, call.turn.turn_id, place)

    async def _send_in_private(self, call: ChatContext, told: CommandReply, place: Place) -> list[Part]:
        """Sends a private reply to the person's own chat, and a line about it to the group."""
        try:
            await self._messenger.call("sendChatAction", chat_id=call.user_id, action="typing")
        except ChatGone:
            link = f"https://t.me/{self._bot.username}?start=hello"
            line = "That's between us, and I can't write to you yet. Open our chat, press Start, and ask again."
            return message_parts(line, place, [[Button("Open our chat", url=link)]], silent=True)
        except MessengerError as error:
            log.info("a private chat could not be checked", error=str(error))
        parts = await self._parts(call, told, Place(call.user_id, 0, True))
        parts += message_parts("I've answered in our private chat.", place, silent=True)
        return number_parts(parts)

    async def _press(
        self, turn: ClaimedTurn, update: Update, query: CallbackQuery, place: Place, space: Space
    ) -> list[Part]:
        """Runs a button. Every press is answered; the handler checks who may press it."""
        call = self._call(turn, place, query.message, query.sender, space)
        work = asyncio.create_task(press_button(call, query.data or NOTHING))
        answered = False
        try:
            if not (await asyncio.wait({work}, timeout=PATIENCE_SECONDS))[0]:
                await self._answer_press(query, WORKING)
                answered = True
            done = await work
            if not await self._groups.may_read(query.message.chat, turn.user_id, space, lent=False):
                done = ButtonReply(OVERHEARD)
            await redraw_pressed(
                self._services.store, self._messenger, self._bot.id, place, query.message.message_id, done
            )
        except Exception:
            if not answered:
                await self._answer_press(query, FAILED)  # its turn is run again
            raise
        finally:
            work.cancel()
        if not answered:
            await self._answer_press(query, done.toast)
        says = done.says or (CommandReply(done.toast) if answered and done.toast else None)
        return [] if says is None else await self._parts(call, says, place)

    async def _answer_press(self, query: CallbackQuery, toast: str) -> None:
        with contextlib.suppress(MessengerError):
            answer = {"callback_query_id": query.id, "text": toast[:200] or None}
            await self._messenger.call("answerCallbackQuery", **answer)


def is_told(update: Update) -> bool:
    """Whether an update comes from Telegram or Relay itself, not from something a person did in a chat."""
    told = update.stopped_message_generation or update.my_chat_member or update.person
    return told is not None or (update.message is not None and update.message.left_chat_member is not None)
