"""Delivery to a webhook: in order, one at a time, again until it is answered with 2xx."""

from __future__ import annotations

import asyncio
import time

import aiohttp

from tests.standins.telegram.updates import UpdateQueue

RETRY_SECONDS = 0.2


async def deliver_to_webhook(queue: UpdateQueue) -> None:
    """Deliver for as long as a webhook is set; sleep while there is none."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
        while True:
            await queue.arrived.wait()
            queue.arrived.clear()
            while queue.webhook.get("url") and (batch := queue.take(1)):
                update_id = batch[0]["update_id"]
                if error := await _post(session, queue, batch[0]):
                    queue.webhook.update(last_error_date=int(time.time()), last_error_message=error)
                    if update_id not in queue.pending:
                        queue.redeliver(update_id)
                    await asyncio.sleep(RETRY_SECONDS)
                elif queue.pending.pop(update_id, None) is not None:
                    queue.acked.append(update_id)


async def _post(session: aiohttp.ClientSession, queue: UpdateQueue, update: dict[str, object]) -> str | None:
    """Hand over one update; what went wrong, or ``None``."""
    secret = queue.webhook.get("secret")
    headers = {"X-Telegram-Bot-Api-Secret-Token": secret} if secret else {}
    try:
        async with session.post(queue.webhook["url"], json=update, headers=headers) as response:
            if response.status // 100 == 2:
                return None
            return f"Wrong response from the webhook: {response.status} {response.reason}"
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"Connection failed: {error}"
