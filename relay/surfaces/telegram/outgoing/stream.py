"""Shows an answer while it grows: as drafts in private chats, as one edited message in groups."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from relay.core.errors import (
    ChatGone,
    MessengerRefused,
    MessengerThrottled,
    MessengerUnavailable,
    RelayError,
    TokenRefused,
)
from relay.core.frozen import frozen
from relay.core.ports import Messenger
from relay.core.tasks import wait_for
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import PartResult, Request, StoredPart
from relay.memory.store import Store
from relay.surfaces.telegram.formatting.format import Formatted, format_preview, run_formatting
from relay.surfaces.telegram.outgoing import chat_action
from relay.surfaces.telegram.outgoing.delivery import OVERHEARD, allow_everywhere
from relay.surfaces.telegram.outgoing.requests import is_topic_gone, text_request
from relay.surfaces.telegram.parsing.place import Place

log = structlog.get_logger()

DRAFT_EVERY, DRAFT_FIRST, DRAFT_LASTS = 0.4, 0.25, 20.0
EDIT_EVERY, EDIT_FIRST = 1.5, 1.0


@frozen
class PreviewLimits:
    """Where and when to show a preview."""

    no_drafts: set[int]
    """Chats in which a draft was refused; they get none until the next start."""
    quiet: bool = False
    """Whether the answer replaces another one, so that it has no preview."""
    may_read: Callable[[], Awaitable[bool]] = allow_everywhere
    """Whether the answer may still be shown in its group."""


class Preview:
    """The `Sink` of a turn on Telegram. An async context manager: leaving it awaits requests in flight."""

    def __init__(
        self,
        messenger: Messenger,
        store: Store,
        turn: ClaimedTurn,
        bot_id: int,
        place: Place,
        limits: PreviewLimits,
    ) -> None:
        self._limits = limits
        self._messenger = messenger
        self._store = store
        self._turn = turn
        self._bot_id = bot_id
        self._place = place
        self._so_far: Callable[[], str] = str
        self._trouble = ""
        self._shown = ""
        self._free_at = 0.0
        self._row: StoredPart | None = next((part for part in turn.parts if part.seq == 1), None)
        self._news = asyncio.Event()
        self._closing = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Preview:
        self._tasks.append(
            asyncio.create_task(chat_action.show_action(self._messenger, self._place.address(), "typing"))
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        self._news.set()
        self._tasks[0].cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def settle(self, stop: asyncio.Event) -> None:
        """Waits until the preview's message may be edited again, or `stop` is set."""
        await wait_for(stop, max(0.0, self._free_at - time.monotonic()))

    def text(self, so_far: Callable[[], str]) -> None:
        if self._limits.quiet:
            return
        self._so_far, self._trouble = so_far, ""
        self._show_soon()

    def report_wait(self, sentence: str) -> None:
        if self._limits.quiet and not self._place.private:
            return
        self._trouble = sentence
        self._show_soon()

    def _show_soon(self) -> None:
        self._news.set()
        if len(self._tasks) == 1:
            self._tasks.append(asyncio.create_task(self._show()))

    async def _markdown(self) -> str:
        """Returns what can be shown now. A thread removes the tags, which takes a while in a long text."""
        return f"{await asyncio.to_thread(self._so_far)}\n\n{self._trouble}".strip()

    async def _show(self) -> None:
        """Shows the newest text at a steady pace until closed; never interrupts a request."""
        pause = DRAFT_FIRST if self._place.private else EDIT_FIRST
        while not await wait_for(self._closing, pause):
            pause = DRAFT_EVERY if self._place.private else EDIT_EVERY
            self._news.clear()
            try:
                await (self._draft() if self._place.private else self._edit())
            except MessengerThrottled as error:
                pause = max(pause, error.retry_after)
                if not self._place.private:
                    self._free_at = time.monotonic() + pause
            except RelayError as error:
                log.info("preview failed", turn_id=self._turn.turn_id, error=str(error))
                if not self._place.private:
                    return
                if isinstance(error, MessengerRefused | TokenRefused):
                    if not (isinstance(error, ChatGone) or is_topic_gone(str(error))):
                        self._limits.no_drafts.add(self._place.chat_id)
                    return
            if not await wait_for(self._news, DRAFT_LASTS):
                self._shown = "" if self._place.private else self._shown

    async def _draft(self) -> None:
        shown = await run_formatting(format_preview, await self._markdown())
        if self._place.chat_id in self._limits.no_drafts or not shown.text or shown.text == self._shown:
            return
        await self._messenger.call(
            "sendMessageDraft",
            **self._place.address(),
            draft_id=self._turn.turn_id,
            text=shown.text,
            entities=shown.entities,
            can_stop=True,
        )
        self._shown = shown.text

    async def _edit(self) -> None:
        shown = await run_formatting(format_preview, await self._markdown())
        if not shown.text or shown.text == self._shown:
            return
        if not await self._limits.may_read():
            shown = Formatted(OVERHEARD, [])
            if self._row is None or shown.text == self._shown:
                return  # the final message says so
        request = text_request(self._place, shown)
        if self._row is None:
            request |= self._place.reply()
            if not self._turn.choices.sound:
                request["disable_notification"] = True
            await self._begin(request)
        elif self._row.telegram_message_id is not None:
            request.pop("message_thread_id", None)
            await self._messenger.call("editMessageText", **request, message_id=self._row.telegram_message_id)
        self._shown, self._free_at = shown.text, time.monotonic() + EDIT_EVERY

    async def _begin(self, request: Request) -> None:
        """Sends the message that later edits change. If it certainly was not sent, the next round tries again."""
        row = await self._store.preview(self._turn, self._bot_id, self._place.chat_id, request)
        self._row = row
        try:
            posted = await self._messenger.call("sendMessage", **request)
        except (MessengerThrottled, MessengerUnavailable, MessengerRefused):
            await self._store.store_sent(self._turn, [PartResult(1, "waiting")], False)
            self._row = None
            raise
        self._row = replace(row, telegram_message_id=posted["message_id"])
        await self._store.store_sent(self._turn, [PartResult(1, "preview", posted["message_id"])], False)
