"""Stored replies on their way to Telegram: each part once, whatever is lost between."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog

from relay.archive.packed import TooMuchToSend
from relay.core import metrics
from relay.core.errors import (
    ChatGone,
    ChatMigrated,
    DeliveryUncertain,
    MessengerError,
    MessengerRefused,
    TokenRefused,
    VoiceUnavailable,
)
from relay.core.models import File, Sound
from relay.core.ports import Messenger, TextToSpeech
from relay.memory.claims import ClaimedTurn
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing.delivery_recovery import Search
from relay.surfaces.telegram.outgoing.exports import Exports, NotPacked
from relay.surfaces.telegram.outgoing.files import sent_as
from relay.surfaces.telegram.outgoing.insist import Pauses, Stopped, call_until_answered, rest
from relay.surfaces.telegram.outgoing.speech import Speech

log = structlog.get_logger()

Json = dict[str, Any]
SETTLE_SECONDS = 1.0
"""How long a request whose response was lost may still be carried out."""
STOPPED = "Stopped."
OVERHEARD = "Who's in this group has changed, so I won't show my answer here. Ask me again in our private chat."
"""What stands in a group instead of an answer made from private memory, once others may read it there."""
VOID = "(This belonged to an earlier answer.)"
TOPIC_GONE = ("message thread not found", "topic_deleted", "topic_closed", "topic_id_invalid")
FORBIDDEN = "You let nobody send you voice messages (Telegram: Settings → Privacy and Security → Voice Messages)."
NO_EDIT = ("not found", "can't be edited", "message_id_invalid")
"""How Telegram says that a message cannot be edited at all, whatever its text."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a reply."""

    more: bool
    """The lane has more to do."""
    owed: tuple[str, ...]
    """The jobs that have something to do."""
    refused: str = ""
    """Why Telegram does not take a part, though the chat is there. Empty when all is well."""


class Overheard(Exception):
    """A part made from private memory would be read by others."""


async def everywhere() -> bool:
    """A reply that may be shown wherever it was asked for."""
    return True


Operates = Callable[[ClaimedTurn], bool]


def nobody(turn: ClaimedTurn) -> bool:
    """Nobody who is known here runs the bot."""
    return False


class Delivery:
    """Sends parts in order and marks them."""

    def __init__(
        self,
        store: Store,
        messenger: Messenger,
        bot_id: int,
        voice: TextToSpeech | None = None,
        operates: Operates = nobody,
        exports: Exports | None = None,
    ) -> None:
        """`operates`: whether a turn's user runs the bot, and is told the cause of an error in their own chat."""
        self._speech = Speech(messenger, voice)
        self._operates = operates
        self._exports = exports
        self._store = store
        self._messenger = messenger
        self._bot_id = bot_id
        self._search = Search(store, messenger, bot_id)

    @metrics.timed("deliver")
    async def deliver(
        self,
        turn: ClaimedTurn,
        parts: list[Json],
        stop: asyncio.Event | None = None,
        may_read: Callable[[], Awaitable[bool]] = everywhere,
    ) -> Delivered:
        """Delivers a turn's reply and closes the turn. Once `stop` is set, no further part is sent, and a line says so.
        So it is once `may_read`, asked before each part that goes to a group, says that others would read it.

        A part that a predecessor left as being sent is looked for before it is sent again. After a text that is
        refused for good no further part is sent to that chat; a file that is refused costs only itself.
        """
        rows = await self._store.deliver(turn, self._bot_id, parts)
        results: list[Json] = []
        refused, gone = "", False
        ended: set[int] = set()
        for row in [row for row in rows if row["status"] not in ("sent", "failed")]:
            if row["chat_id"] in ended:
                results.append(failed(row, refused))
                continue
            try:
                if "delete" not in row["request"]:
                    await rest(0, stop)
                    if row["chat_id"] < 0 and not await may_read():
                        raise Overheard
                if row["status"] == "waiting":
                    row |= await self._store.sending(turn, results, row["seq"])
                    results = []
                results.append(await self._put(turn, row, stop))
                metrics.DELIVERIES.labels("sent").inc()
            except (Stopped, Overheard) as ended_by:
                line = OVERHEARD if isinstance(ended_by, Overheard) else STOPPED
                results = [await self._say_stopped(turn, row, results, line)]
                break
            except MessengerError as error:
                log.warning("part not delivered", delivery=row["id"], error=str(error))
                metrics.DELIVERIES.labels("failed").inc()
                refused, gone = str(error), isinstance(error, ChatGone)
                if "text" in row["request"]:
                    ended.add(row["chat_id"])
                results.append(failed(row, refused))
        more, owed = await self._store.sent(turn, results, True)
        return Delivered(more, owed, "" if not refused or gone else refused)

    async def echo(self, turn: ClaimedTurn, heard: int, request: Json) -> None:
        """Tells what was heard in a Telegram message of a turn that is not answered yet, once.

        An echo that does not arrive is no reason to answer nothing; the one that a predecessor left as being sent is
        looked for before it is sent again.
        """
        row = await self._store.echo(turn, heard, request)
        if row["status"] != "sending":
            return
        try:
            result = await self._put(turn, row, None)
        except MessengerError as error:
            log.warning("echo not delivered", delivery=row["id"], error=str(error))
            result = failed(row, str(error))
        await self._store.sent(turn, [result], False)

    async def _say_stopped(self, turn: ClaimedTurn, row: Json, results: list[Json], why: str) -> Json:
        """Gives up what was not sent, and says why as the last part."""
        log.info("delivery stopped", delivery=row["id"])
        address = {key: row["request"][key] for key in ("chat_id", "message_thread_id") if key in row["request"]}
        request = {**address, **silent_line(why)}
        last = await self._store.stop_delivery(turn, results, request)
        try:
            return await self._put(turn, {**last, "uncertain": False}, None)
        except MessengerError as error:
            return failed(last, str(error))

    async def _put(self, turn: ClaimedTurn, row: Json, stop: asyncio.Event | None) -> Json:
        """Brings one part into the chat, also when that has got another id. Returns what `relay_sent` takes."""
        while True:
            try:
                message_id = await self._bring(turn, row, stop)
            except ChatMigrated as error:
                await self._store.regroup(self._bot_id, row["chat_id"], error.new_chat_id, turn.turn_id)
                row |= await self._store.sending(turn, [], row["seq"]) | {"uncertain": False}
                if row["chat_id"] != error.new_chat_id:
                    raise
            else:
                return {"seq": row["seq"], "status": "sent", "telegram_message_id": message_id}

    async def _bring(self, turn: ClaimedTurn, row: Json, stop: asyncio.Event | None) -> int:
        """Edits what is in the chat already (a preview, an answer that is replaced, a part found again), or sends.
        What has no part any more, goes."""
        if row["request"].get("delete"):
            await self._take_away(row)
            return int(row["telegram_message_id"] or 0)
        if row["telegram_message_id"] is not None:
            return await self._finalize(turn, row, row["telegram_message_id"], stop)
        if row["uncertain"]:
            found = await self._search.find(row)
            if found is not None:
                return await self._settle(turn, row, found)
            row |= await self._store.sending(turn, [], row["seq"])
        if "text" in row["request"]:
            return await self._send(turn, row, stop)
        made = next((key for key in ("say", "export") if key in row["request"]), "")
        return await {"say": self._say, "export": self._export}.get(made, self._send)(turn, row, stop)

    async def _say(self, turn: ClaimedTurn, row: Json, stop: asyncio.Event | None) -> int:
        """Sends a part as a voice note. Where that cannot be, a line that says why takes its place."""
        try:
            return await self._send(turn, row, stop, await self._speech.of(row["request"], stop))
        except ChatMigrated:
            raise
        except Stopped:
            line = STOPPED
        except (VoiceUnavailable, MessengerRefused) as error:
            log.warning("not said aloud", delivery=row["id"], error=str(error))
            why = (
                FORBIDDEN
                if "voice_messages_forbidden" in str(error).lower()
                else error.told_to(row["chat_id"] > 0 and self._operates(turn))
            )
            line = f"🔇 I could not say this aloud: {why}"
        # It keeps that it stands for a voice note: the answer's last message is another.
        return await self._send_instead(turn, row, line, say={})

    async def _export(self, turn: ClaimedTurn, row: Json, stop: asyncio.Event | None) -> int:
        """Packs and sends an export. Where that cannot be, a line that says why takes its place."""
        try:
            if self._exports is None:
                raise NotPacked()
            async with self._exports.packed(row["request"], stop) as file:
                return await self._send(turn, row, stop, file)
        except Stopped:
            line = STOPPED
        except (TooMuchToSend, NotPacked) as error:
            log.warning("not exported", delivery=row["id"], error=str(error))
            line = str(error)
        return await self._send_instead(turn, row, line)

    async def _send_instead(self, turn: ClaimedTurn, row: Json, line: str, **more: Json) -> int:
        """Sends a line in a part's place."""
        keys = ("chat_id", "message_thread_id", "reply_parameters")
        address = {key: row["request"][key] for key in keys if key in row["request"]}
        row |= await self._store.sending_instead(turn, row["seq"], {**address, **silent_line(line), **more})
        return await self._send(turn, row, None)

    async def _send(
        self, turn: ClaimedTurn, row: Json, stop: asyncio.Event | None, made: Sound | File | None = None
    ) -> int:
        """Sends a part until it certainly is in the chat; what was `made` of it just now as that. Raises when Telegram
        refuses it for good."""
        request: Json = row["request"]
        pauses = Pauses()
        while True:
            try:
                method, parameters = sent_as(request, made)
                posted = await self._messenger.call(method, **parameters)
                return int(posted["message_id"])
            except DeliveryUncertain as error:
                with contextlib.suppress(Stopped):
                    await rest(max(SETTLE_SECONDS, pauses.after(error)), stop)
                found = await self._search.find(row)
                if found is not None:
                    return await self._settle(turn, row, found)
                await rest(0, stop)
            except ChatGone:
                raise
            except MessengerRefused as error:
                less = plainer(request, error.reason)
                if less is None:
                    raise
                log.warning("part refused; sending less of it", delivery=row["id"], error=error.reason)
                request = less
            except MessengerError as error:
                log.info("part waits", delivery=row["id"], error=str(error))
                await rest(pauses.after(error), stop)

    async def _settle(self, turn: ClaimedTurn, row: Json, message_id: int) -> int:
        """Gives a lost part that was found its final form: a look has left a button under it."""
        if "text" in row["request"]:
            return await self._finalize(turn, row, message_id, None)
        at = {key: row["request"][key] for key in ("chat_id", "reply_markup") if key in row["request"]}
        with contextlib.suppress(MessengerRefused):
            await call_until_answered(self._messenger, "editMessageReplyMarkup", **at, message_id=message_id)
        return message_id

    async def _finalize(self, turn: ClaimedTurn, row: Json, message_id: int, stop: asyncio.Event | None) -> int:
        """Gives a message that is in the chat the part's final text and buttons; sends a new one if it takes them not.

        Returns the id of the message that has them.
        """
        keys = ("chat_id", "text", "entities", "link_preview_options", "reply_markup")
        request: Json | None = {key: row["request"][key] for key in keys if key in row["request"]}
        ours = True
        while request is not None:
            try:
                await call_until_answered(self._messenger, "editMessageText", stop, **request, message_id=message_id)
                return message_id
            except ChatGone:
                raise
            except (MessengerRefused, TokenRefused) as error:
                reason = str(error).lower()
                if "not modified" in reason:
                    return message_id
                ours = not any(words in reason for words in NO_EDIT)
                request = plainer(request, reason) if ours and isinstance(error, MessengerRefused) else None
        log.warning("message cannot be edited; sending a new one", delivery=row["id"], message_id=message_id)
        row |= await self._store.sending_anew(turn, row["seq"])
        sent = await self._send(turn, row, stop)
        if ours:
            with contextlib.suppress(MessengerError):
                await self._messenger.call("deleteMessage", chat_id=row["request"]["chat_id"], message_id=message_id)
        return sent

    async def _take_away(self, row: Json) -> None:
        """Deletes a message of an answer that another has replaced. One that Telegram keeps says that it is void."""
        at = {"chat_id": row["chat_id"], "message_id": row["telegram_message_id"]}
        if at["message_id"] is None:
            return  # of a group that has become another chat meanwhile
        try:
            await call_until_answered(self._messenger, "deleteMessage", **at)
        except ChatGone:
            raise
        except MessengerRefused as error:
            if "not found" not in error.reason.lower():
                with contextlib.suppress(MessengerRefused):
                    await call_until_answered(self._messenger, "editMessageText", **at, text=VOID)


def failed(row: Json, error: str) -> Json:
    """A part that will not be sent, as `relay_sent` takes it."""
    return {"seq": row["seq"], "status": "failed", "error": error}


def silent_line(text: str) -> Json:
    """What a request for a line that makes no sound holds besides its address."""
    return {"text": text, "link_preview_options": {"is_disabled": True}, "disable_notification": True}


def plainer(request: Json, reason: str) -> Json | None:
    """What of a request that was refused may be tried next; None when nothing can be left out any more.

    What was said in a topic stays in it, except in a private chat, where nobody else reads along.
    """
    if any(words in reason.lower() for words in TOPIC_GONE):
        if request["chat_id"] < 0 or "message_thread_id" not in request:
            return None
        return {key: value for key, value in request.items() if key != "message_thread_id"}
    if "say" in request and "text" not in request:
        return None
    if request.get("entities"):
        return {key: value for key, value in request.items() if key != "entities"}
    needed = ("chat_id", "message_thread_id", "text", "method", "file", "export")
    bare: Json = {key: request[key] for key in needed if key in request}
    return bare if bare != request else None
