"""`relay run`: opens everything that the bot needs, and runs it until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

import structlog

from relay.clients.embedded.account import make_directory
from relay.core.errors import MessengerError, TokenRefused
from relay.core.program import pause_collections
from relay.core.retry import RetryPolicy
from relay.core.settings import Settings
from relay.core.tasks import cancel, wait_or_cancel
from relay.runtime.clients import import_telegram
from relay.runtime.runtime import open_runtime
from relay.surfaces.server.process_hardening import seal
from relay.surfaces.server.signals import hear_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from relay.clients.telegram.client import Telegram
    from relay.runtime.runtime import Runtime
    from relay.surfaces.telegram.parsing.updates import Bot

    RunBot = Callable[[Runtime, Telegram, Bot, asyncio.Event], Coroutine[Any, Any, None]]
    """`bot.run_bot`."""

log = structlog.get_logger()


async def run(settings: Settings) -> None:
    """Runs the bot until SIGTERM, SIGINT or SIGHUP; a second ends it at once. Raises `SettingsError`, among others."""
    seal()
    if settings.backup_days and settings.backup_dir:
        make_directory(settings.backup_dir, "RELAY_BACKUP_DIR")
    stopping = asyncio.Event()
    _handle_signals(stopping)
    async with contextlib.AsyncExitStack() as stack:
        opening = asyncio.create_task(stack.enter_async_context(open_runtime(settings, wait=True)), name="open")
        meeting = asyncio.create_task(_connect_telegram(settings, stack), name="meet")
        try:
            with pause_collections():  # imports make nothing that could be freed
                started = await wait_or_cancel(stopping, asyncio.gather(opening, meeting))
        except BaseException:
            await cancel(opening, meeting)
            raise
        if started is not None:
            runtime, (telegram, bot, run_bot) = started
            await run_bot(runtime, telegram, bot, stopping)


async def _connect_telegram(settings: Settings, stack: contextlib.AsyncExitStack) -> tuple[Telegram, Bot, RunBot]:
    """Returns the Telegram client, the bot, and what runs it. The stack closes the client's connections."""
    await asyncio.sleep(0)  # The database starts in a thread, while this one imports, which is most of a start.
    from relay.surfaces.server.bot import run_bot

    telegram = (await asyncio.to_thread(import_telegram))(settings.telegram_bot_token, settings.telegram_api_url)
    stack.push_async_callback(telegram.close_pools)
    return telegram, await identify(telegram), run_bot


async def identify(telegram: Telegram) -> Bot:
    """Returns the bot's id and username. Waits while Telegram is unreachable; raises `TokenRefused` for a bad token."""
    from relay.surfaces.telegram.parsing.updates import Bot

    async def note(error: BaseException) -> None:
        log.warning("Telegram cannot be reached yet", error=str(error))

    await telegram.open()
    retries = RetryPolicy(first=1.0)
    me = await retries.run(lambda: telegram.call("getMe"), (MessengerError,), but=(TokenRefused,), note=note)
    return Bot(me["id"], me.get("username") or "")


def _handle_signals(stopping: asyncio.Event) -> None:
    """Makes the first SIGTERM, SIGINT or SIGHUP (the terminal was closed) set `stopping`, and a second
    SIGTERM or SIGINT end the process."""

    def heard(number: int) -> None:
        if number in (signal.SIGTERM, signal.SIGINT) and stopping.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stopping.set()

    hear_signals(heard, "SIGTERM", "SIGINT", "SIGHUP")
