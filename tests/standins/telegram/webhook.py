"""Delivery to a webhook, as the Bot API server does it: updates of one chat in sequence, those of different chats in
parallel (up to ``max_connections``). An update without a 2xx answer is sent again after a growing pause."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import aiohttp

from tests.standins.telegram.updates import UpdateQueue
from tests.standins.telegram.values import Json

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 3.0
"""Seconds. Telegram begins with one and goes up to a minute."""


async def deliver_to_webhook(queue: UpdateQueue) -> None:
    """Deliver while a webhook is set. Sleep while there is none."""
    busy: set[tuple[str, Any]] = set()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session, asyncio.TaskGroup() as tasks:
        while True:
            await queue.arrived.wait()
            queue.arrived.clear()
            for update in queue.deliverable() if queue.webhook.get("url") else []:
                line = line_of(update)
                if line not in busy and len(busy) < queue.webhook["max_connections"]:
                    busy.add(line)
                    tasks.create_task(_deliver(session, queue, update, line, busy))


async def _deliver(
    session: aiohttp.ClientSession, queue: UpdateQueue, update: Json, line: tuple[str, Any], busy: set[tuple[str, Any]]
) -> None:
    """Deliver one update until it is accepted or the webhook is gone."""
    pause = FIRST_PAUSE
    while queue.webhook.get("url"):
        error, retry_after = await _post(session, queue, update)
        if error is None:
            queue.delivered(update["update_id"])
            break
        if queue.webhook:
            queue.webhook.update(last_error_date=int(time.time()), last_error_message=error)
        await asyncio.sleep(retry_after or pause)
        pause = min(LONGEST_PAUSE, pause * 2)
    busy.discard(line)
    queue.arrived.set()


def line_of(update: Json) -> tuple[str, Any]:
    """The sequence that an update belongs to: that of its chat, or of the presses by the same person. A malformed one
    may name neither."""
    kind, body = next(((key, value) for key, value in update.items() if key != "update_id"), ("", {}))
    line, field = ("presses", "from") if kind == "callback_query" else ("chat", "chat")
    whose = body.get(field) if isinstance(body, dict) else None
    return line, repr(whose.get("id")) if isinstance(whose, dict) else None


async def _post(session: aiohttp.ClientSession, queue: UpdateQueue, update: Json) -> tuple[str | None, float]:
    """The error, or ``None``, and how long the server asks to wait."""
    secret = queue.webhook.get("secret")
    headers = {"X-Telegram-Bot-Api-Secret-Token": secret} if secret else {}
    try:
        async with session.post(queue.webhook["url"], json=update, headers=headers, ssl=queue.trust) as response:
            if response.status // 100 == 2:
                return None, 0
            error = f"Wrong response from the webhook: {response.status} {response.reason}"
            return error, float(response.headers.get("Retry-After") or 0)
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"Connection failed: {error}", 0
