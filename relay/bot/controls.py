"""Controls: commands and buttons, which act at once, past the queue."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from relay.bot.groups import Groups
from relay.bot.place import Place
from relay.bot.render import answer_buttons, changes_keyboard, memory_line, message_parts
from relay.bot.running import Runs
from relay.bot.said import name_of, text_of
from relay.bot.understand import edited_memory, lane_of, topic_pressed
from relay.bot.updates import EDIT_PROMPT, IN_LANE_BUTTONS, Bot, Command, command_of
from relay.errors import MessengerError
from relay.memory.store import Store
from relay.models import Answer, Claimed, Space
from relay.ports import Messenger
from relay.verbs import VERBS
from relay.verbs import memory as memory_verbs
from relay.verbs.registry import Call, Told

Json = dict[str, Any]
DECISIONS = {"u": ("undo", "Undone."), "k": ("keep", "Done."), "x": ("discard", "Discarded.")}
CHANGED_SINCE = "This has changed again since. Undo that first."


class Controls:
    """Runs verbs and buttons."""

    def __init__(
        self,
        store: Store,
        messenger: Messenger,
        bot: Bot,
        groups: Groups,
        admins: frozenset[int],
        about: dict[str, str],
        runs: Runs,
    ) -> None:
        self._store = store
        self._messenger = messenger
        self._bot = bot
        self._groups = groups
        self._admins = admins
        self._about = about
        self._runs = runs
        self._taps: WeakValueDictionary[tuple[int, int], asyncio.Lock] = WeakValueDictionary()

    async def handle(self, turn: Claimed) -> list[Json]:
        """Does what a control asks and returns the parts of its reply (none when it needs none)."""
        update = turn.updates[0]
        chat, topic_id, message_id = lane_of(turn.updates)
        place = Place(chat["id"], topic_id, chat.get("type") == "private")
        if "stopped_message_generation" in update:
            self._runs.stop(chat["id"], topic_id, update["stopped_message_generation"].get("draft_id"))
            return []
        if "callback_query" in update:
            place = replace(place, topic_id=await topic_pressed(update["callback_query"], self._bot, self._store))
            # One tap after the other under each message, so that its buttons show how things stand in the end.
            async with self._taps.setdefault((chat["id"], message_id or 0), asyncio.Lock()):
                return await self._press(update["callback_query"], place)
        message = update["message"]
        if not place.private:
            place = Place(place.chat_id, place.topic_id, False, message_id)
        space, _ = await self._groups.space_of(chat, turn.user_id)
        told = await self._run(self._call(turn, space, place, message), message)
        buttons = answer_buttons(Answer("", told.changes), turn.turn_id)
        return message_parts(told.text, place, buttons, memory_line(told.changes, told.failed), silent=True)

    def _call(self, turn: Claimed, space: Space, place: Place, message: Json) -> Call:
        return Call(
            store=self._store,
            turn=turn,
            space=space,
            chat_id=place.chat_id,
            topic_id=place.topic_id,
            user_id=turn.user_id,
            name=name_of(message.get("from") or {}),
            admin=turn.user_id in self._admins,
            text=text_of(message),
            stop=lambda: self._runs.stop(place.chat_id, place.topic_id),
            about=self._about,
        )

    async def _run(self, call: Call, message: Json) -> Told:
        """The verb that a command names, or the edit that a reply to an edit prompt is."""
        edited, command = await edited_memory(message, self._bot, self._store), command_of(message, self._bot)
        if edited is not None:
            return await memory_verbs.edit(call, edited)
        command = command or Command("help", "")
        verb = VERBS.get(command.name)
        if verb is None or "chat" not in verb.doors:
            if message.get("chat", {}).get("type") != "private" and "@" not in text_of(message).split()[0]:
                return Told("")  # another bot's command
            return Told(f"I do not know /{command.name}. /help lists what I can do.".replace("_", "\\_"))
        if verb.admin and not call.admin:
            return Told("That is for the people who run me.")
        return await verb.run(replace(call, text=command.rest))

    async def _press(self, query: Json, place: Place) -> list[Json]:
        """A button. Every press is answered; who may press is checked in the database."""
        user_id = query["from"]["id"]
        kind, _, rest = str(query.get("data") or "n").partition(":")
        number, _, decision = rest.partition(":")
        admin = user_id in self._admins
        toast, parts = "", list[Json]()
        if not (number.isdecimal() and len(number) < 19):
            kind = "n"
        if kind in ("u", "c"):
            changes = await self._store.changes(int(number), user_id, admin)
            toast = await self._redraw(changes, int(number), query["message"], opened=kind == "u")
        elif kind == "d" and decision in DECISIONS:
            toast = await self._decide(int(number), user_id, decision, query["message"])
        elif kind == "e":
            toast, parts = await self._ask_edit(int(number), user_id, place)
        with contextlib.suppress(MessengerError):
            await self._messenger.call("answerCallbackQuery", callback_query_id=query["id"], text=toast or None)
        return parts

    async def _decide(self, change_id: int, user_id: int, decision: str, message: Json) -> str:
        """Undoes, keeps or discards a change. Returns what to say about it."""
        decided, done = DECISIONS[decision]
        changes = await self._store.decide_change(change_id, user_id, user_id in self._admins, decided)
        turn_id = await self._store.turn_of_change(change_id) if changes is not None else 0
        refusal = await self._redraw(changes, turn_id, message, opened=True)
        stays = [c for c in changes or () if c["id"] == change_id and c["status"] == "applied"]
        return refusal or (CHANGED_SINCE if decided == "undo" and stays else done)

    async def _redraw(self, changes: list[Json] | None, turn_id: int, message: Json, opened: bool) -> str:
        """Shows a turn's changes as buttons under its message. Returns what to say when that is not allowed."""
        if changes is None:
            return "This is not yours to decide."
        keyboard = [*changes_keyboard(changes, turn_id, opened), *answering_rows(message)]
        with contextlib.suppress(MessengerError):
            await self._messenger.call(
                "editMessageReplyMarkup",
                chat_id=message["chat"]["id"],
                message_id=message["message_id"],
                reply_markup={"inline_keyboard": keyboard},
            )
        return ""

    async def _ask_edit(self, memory_id: int, user_id: int, place: Place) -> tuple[str, list[Json]]:
        """Asks for the new wording of a memory; the reply to this message is it."""
        chat = {"id": place.chat_id, "type": "private" if place.private else "supergroup"}
        space, _ = await self._groups.space_of(chat, user_id)
        row = await self._store.memory(space, memory_id)
        if row is None or not memory_verbs.may_edit(row, space, user_id, user_id in self._admins):
            return "This is not yours to change, or it is gone.", []
        text = f"{EDIT_PROMPT}{memory_id} – reply to this message with the new wording of:\n{row['content']}"
        request = {
            **place.address(),
            "text": text[:4000],
            "disable_notification": True,
            "reply_markup": {"force_reply": True, "selective": True, "input_field_placeholder": "New wording"},
        }
        return "", [{"seq": 1, "chat_id": place.chat_id, "request": request}]


def answering_rows(message: Json) -> list[list[Json]]:
    """The rows of a message's buttons that answer again; opening and closing the others leaves them."""
    rows = (message.get("reply_markup") or {}).get("inline_keyboard") or []
    return [row for row in rows if all(str(one.get("callback_data")).startswith(IN_LANE_BUTTONS) for one in row)]
