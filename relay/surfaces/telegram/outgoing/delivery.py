"""Delivers a reply to Telegram: its parts in order, each exactly once, even if responses are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from relay.core import metrics
from relay.core.errors import ChatGone, MessengerError
from relay.core.frozen import frozen
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Delivered, Part, PartResult, Request, StoredPart
from relay.surfaces.telegram.outgoing.insist import Stopped, sleep_or_stop
from relay.surfaces.telegram.outgoing.requests import address_of, silent_line
from relay.surfaces.telegram.outgoing.sender import STOPPED, Sender

log = structlog.get_logger()

OVERHEARD = "Who's in this group has changed, so I won't show my answer here. Ask me again in our private chat."
"""Shown in a group instead of an answer made from private memory, once others can read it there."""


class ReadByOthers(Exception):
    """Others could read a part made from private memory."""


async def allow_everywhere() -> bool:
    """Allows a reply in any chat."""
    return True


OnRefused = Callable[[ClaimedTurn, str, bool], Awaitable[None]]
"""Called with a turn, the reason, and whether the chat is gone, if Telegram refuses part of a reply: before the turn is
closed, and twice if the process ends in between."""


@frozen
class Delivery:
    """Delivers replies."""

    sender: Sender
    on_refused: OnRefused | None = None

    @metrics.time_stage("deliver")
    async def deliver(
        self,
        turn: ClaimedTurn,
        parts: Sequence[Part],
        stop: asyncio.Event | None = None,
        may_read: Callable[[], Awaitable[bool]] = allow_everywhere,
        owner_id: int | None = None,
    ) -> Delivered:
        """Delivers a turn's reply and closes the turn. Once `stop` is set, sends no further part but a line that says
        so; likewise if `may_read`, called before each part to a group, returns False. `owner_id`: whose private memory
        the reply shows.

        If an earlier process was sending a part, looks for it in the chat before sending it again. After a text is
        refused for good, no further part goes to that chat; a refused file does not stop the rest.
        """
        rows = await self.sender.store.deliver(turn, self.sender.bot_id, parts, owner_id)
        results: list[PartResult] = []
        refused, gone = "", False
        ended: set[int] = set()
        for row in [row for row in rows if row.status not in ("sent", "failed")]:
            if row.chat_id in ended:
                results.append(row.make_failed(refused))
                continue
            part = row
            try:
                if "delete" not in part.request:
                    await sleep_or_stop(0, stop)
                    if part.chat_id < 0 and not await may_read():
                        raise ReadByOthers
                if part.status == "waiting":
                    part = await self.sender.store.start_sending(turn, results, part.seq)
                    results = []
                results.append(await self.sender.send(turn, part, stop))
                metrics.DELIVERIES.labels("sent").inc()
            except (Stopped, ReadByOthers) as ended_by:
                line = OVERHEARD if isinstance(ended_by, ReadByOthers) else STOPPED
                results = [await self._say_stopped(turn, part, results, line)]
                break
            except MessengerError as error:
                log.warning("part not delivered", part=part.id, error=str(error))
                metrics.DELIVERIES.labels("failed").inc()
                refused, gone = str(error), isinstance(error, ChatGone)
                if "text" in part.request:
                    ended.add(part.chat_id)
                results.append(part.make_failed(refused))
        if refused and self.on_refused:
            await self.on_refused(turn, refused, gone)
        return replace(await self.sender.store.store_sent(turn, results, True), refused="" if gone else refused)

    async def echo(self, turn: ClaimedTurn, heard: int, request: Request) -> None:
        """Posts the transcript of a message once, before its turn is answered.

        A failed echo does not stop the answer. If an earlier process was sending it, looks for it before sending again.
        """
        row = await self.sender.store.echo(turn, heard, request)
        if row.status != "sending":
            return
        try:
            result = await self.sender.send(turn, row, None)
        except MessengerError as error:
            log.warning("echo not delivered", part=row.id, error=str(error))
            result = row.make_failed(str(error))
        await self.sender.store.store_sent(turn, [result], False)

    async def _say_stopped(
        self, turn: ClaimedTurn, row: StoredPart, results: Sequence[PartResult], why: str
    ) -> PartResult:
        """Drops the unsent parts, and sends the reason as the last one."""
        log.info("delivery stopped", part=row.id)
        request = {**address_of(row.request), **silent_line(why)}
        last = await self.sender.store.stop_delivery(turn, results, request)
        try:
            return await self.sender.send(turn, last, None)
        except MessengerError as error:
            return last.make_failed(str(error))
