"""Sends, edits or deletes one message, and finds it again if the response was lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from relay.archive.packed import TooMuchToSend
from relay.commands.session.voice import OFF, SILENT
from relay.core import metrics
from relay.core.errors import (
    ChatGone,
    ChatMigrated,
    DeliveryUncertain,
    MessengerError,
    MessengerRefused,
    RelayError,
    TokenRefused,
    VoiceUnavailable,
)
from relay.core.frozen import frozen
from relay.core.models import File, Sound
from relay.core.ports import Messenger, TextToSpeech
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import PartResult, Request, StoredPart
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing.chat_action import shown
from relay.surfaces.telegram.outgoing.delivery_recovery import Search
from relay.surfaces.telegram.outgoing.exports import Exports, NotPacked
from relay.surfaces.telegram.outgoing.files import choose_method
from relay.surfaces.telegram.outgoing.insist import (
    RetryPauses,
    Stopped,
    call_until_answered,
    run_or_stop,
    sleep_or_stop,
)
from relay.surfaces.telegram.outgoing.requests import address_of, plainer, silent_line

log = structlog.get_logger()

SETTLE_SECONDS = 1.0
"""How long a request whose response was lost may still be carried out."""
STOPPED = "Stopped."
VOID = "(This belonged to an earlier answer.)"
FORBIDDEN = "Your Telegram settings don't allow voice messages (Settings → Privacy and Security → Voice Messages)."
NO_EDIT = ("not found", "can't be edited", "message_id_invalid")
"""Telegram's errors for a message that cannot be edited at all."""

Operates = Callable[[ClaimedTurn], bool]
"""Whether a turn's user is an admin, who sees the cause of an error in their own chat."""


@frozen
class Sender:
    """Sends parts of turns that this process holds."""

    store: Store
    messenger: Messenger
    bot_id: int
    voice: TextToSpeech | None = None
    """None: no engine is installed."""
    operates: Operates = lambda _: False
    exports: Exports | None = None

    async def send(self, turn: ClaimedTurn, row: StoredPart, stop: asyncio.Event | None) -> PartResult:
        """Brings a part marked as being sent into its chat, even if the chat has got a new id.

        Raises `Stopped`, or the `MessengerError` with which Telegram refuses it for good.
        """
        while True:
            try:
                return PartResult(row.seq, "sent", await self._bring(turn, row, stop))
            except ChatMigrated as error:
                await self.store.regroup(self.bot_id, row.chat_id, error.new_chat_id, turn.turn_id)
                row = await self.store.start_sending(turn, [], row.seq)
                if row.chat_id != error.new_chat_id:
                    raise

    async def _bring(self, turn: ClaimedTurn, row: StoredPart, stop: asyncio.Event | None) -> int:
        """Edits a message that is already in the chat (a preview, a replaced answer, a part found again), or sends a
        new one. Deletes a message whose part is gone."""
        if row.request.get("delete"):
            await self._delete(row)
            return row.telegram_message_id or 0
        if row.telegram_message_id is not None:
            return await self._finalize(turn, row, row.telegram_message_id, stop)
        if row.uncertain:
            with contextlib.suppress(Stopped):  # a new process may be faster than the request of the one before
                await sleep_or_stop(SETTLE_SECONDS, stop)
            found = await Search(self.store, self.messenger, self.bot_id).find(row)
            if found is not None:
                return await self._settle(turn, row, found)
            row = await self.store.start_sending(turn, [], row.seq)
        if "text" not in row.request:
            if "say" in row.request:
                return await self._say(turn, row, stop)
            if "export" in row.request:
                return await self._export(turn, row, stop)
        return await self._send(turn, row, stop)

    async def _say(self, turn: ClaimedTurn, row: StoredPart, stop: asyncio.Event | None) -> int:
        """Sends a part as a voice note; if that is impossible, a line that says why."""
        try:
            return await self._send(turn, row, stop, await self._speak(row.request, stop))
        except ChatMigrated:
            raise
        except Stopped:
            line = STOPPED
        except (VoiceUnavailable, MessengerRefused) as error:
            log.warning("voice note not sent", part=row.id, error=str(error))
            why = (
                FORBIDDEN
                if "voice_messages_forbidden" in str(error).lower()
                else self._describe_error(turn, row, error)
            )
            line = f"🔇 I couldn't say this aloud: {why}"
        # It stays marked as a voice note, so that it is not taken for the answer's last message.
        return await self._send_instead(turn, row, {**silent_line(line), "say": {}})

    @metrics.time_stage("speak")
    async def _speak(self, request: Request, stop: asyncio.Event | None) -> Sound:
        """Makes the sound of a voice note. Raises `VoiceUnavailable`."""
        if self.voice is None:
            raise VoiceUnavailable(OFF, SILENT)
        async with shown(self.messenger, address_of(request), "record_voice"):
            return await run_or_stop(self.voice.speak(request["say"]["text"], request["say"]["language"]), stop)

    async def _export(self, turn: ClaimedTurn, row: StoredPart, stop: asyncio.Event | None) -> int:
        """Packs and sends an export; if that is impossible, a line that says why."""
        try:
            if self.exports is None:
                raise NotPacked()
            async with self.exports.pack(row.request, stop) as file:
                return await self._send(turn, row, stop, file)
        except Stopped:
            line = STOPPED
        except (TooMuchToSend, NotPacked) as error:
            log.warning("export not sent", part=row.id, error=str(error))
            line = self._describe_error(turn, row, error)
        return await self._send_instead(turn, row, silent_line(line))

    def _describe_error(self, turn: ClaimedTurn, row: StoredPart, error: RelayError) -> str:
        """Returns what went wrong, with the cause only for an admin in their own chat."""
        return error.message_for(row.chat_id > 0 and self.operates(turn))

    async def _send_instead(self, turn: ClaimedTurn, row: StoredPart, line: Request) -> int:
        """Sends a line in place of a part."""
        request = {**address_of(row.request, "reply_parameters"), **line}
        return await self._send(turn, await self.store.replace_sending(turn, row.seq, request), None)

    async def _send(
        self, turn: ClaimedTurn, row: StoredPart, stop: asyncio.Event | None, made: Sound | File | None = None
    ) -> int:
        """Sends a part until it is certainly in the chat. `made`: its sound or export. Raises `MessengerRefused` if
        Telegram refuses it for good."""
        request = row.request
        pauses = RetryPauses()
        while True:
            try:
                method, parameters = choose_method(request, made)
                posted = await self.messenger.call(method, **parameters)
                return int(posted["message_id"])
            except DeliveryUncertain as error:
                with contextlib.suppress(Stopped):
                    await sleep_or_stop(max(SETTLE_SECONDS, pauses.next_pause(error)), stop)
                found = await Search(self.store, self.messenger, self.bot_id).find(row)
                if found is not None:
                    return await self._settle(turn, row, found)
                await sleep_or_stop(0, stop)
            except ChatGone:
                raise
            except MessengerRefused as error:
                less = plainer(request, error.reason)
                if less is None:
                    raise
                log.warning("part refused; sending a simpler form", part=row.id, error=error.reason)
                request = less
            except MessengerError as error:
                log.info("part waits", part=row.id, error=str(error))
                await sleep_or_stop(pauses.next_pause(error), stop)

    async def _settle(self, turn: ClaimedTurn, row: StoredPart, message_id: int) -> int:
        """Gives a recovered part its final form, because the search has left a button under it."""
        if "text" in row.request:
            return await self._finalize(turn, row, message_id, None)
        at = {key: row.request[key] for key in ("chat_id", "reply_markup") if key in row.request}
        with contextlib.suppress(MessengerRefused):
            await call_until_answered(self.messenger, "editMessageReplyMarkup", **at, message_id=message_id)
        return message_id

    async def _finalize(self, turn: ClaimedTurn, row: StoredPart, message_id: int, stop: asyncio.Event | None) -> int:
        """Gives a message in the chat the part's final text and buttons; sends a new one if Telegram refuses that.

        Returns the id of the message that has them.
        """
        keys = ("chat_id", "text", "entities", "link_preview_options", "reply_markup")
        request: Request | None = {key: row.request[key] for key in keys if key in row.request}
        ours = True
        while request is not None:
            try:
                await call_until_answered(self.messenger, "editMessageText", stop, **request, message_id=message_id)
                return message_id
            except ChatGone:
                raise
            except (MessengerRefused, TokenRefused) as error:
                reason = str(error).lower()
                if "not modified" in reason:
                    return message_id
                ours = not any(words in reason for words in NO_EDIT)
                request = plainer(request, reason) if ours and isinstance(error, MessengerRefused) else None
        log.warning("message cannot be edited; sending a new one", part=row.id, message_id=message_id)
        sent = await self._send(turn, await self.store.restart_sending(turn, row.seq), stop)
        if ours:
            with contextlib.suppress(MessengerError):
                await self.messenger.call("deleteMessage", chat_id=row.request["chat_id"], message_id=message_id)
        return sent

    async def _delete(self, row: StoredPart) -> None:
        """Deletes a message of a replaced answer. If Telegram keeps it, its text says that it is void."""
        at: Request = {"chat_id": row.chat_id, "message_id": row.telegram_message_id}
        if row.telegram_message_id is None:
            return  # its group has become another chat in the meantime
        try:
            await call_until_answered(self.messenger, "deleteMessage", **at)
        except ChatGone:
            raise
        except MessengerRefused as error:
            if "not found" not in error.reason.lower():
                with contextlib.suppress(MessengerRefused):
                    await call_until_answered(self.messenger, "editMessageText", **at, text=VOID)
