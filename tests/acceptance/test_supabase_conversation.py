"""The conversation tests of the embedded database, on Supabase."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.acceptance.shared_bot import FIRST, HUGE, LAST, SESSION, SharedBot
from tests.acceptance.supabase_relay import supabase_settings
from tests.acceptance.test_conversation import *  # noqa: F403
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.supabase import SupabaseProject
from tests.standins.telegram import TelegramStandIn

pytestmark = [SESSION, pytest.mark.slow("test_conversation.py, and over REST test_turn_sql.py and test_supabase.py")]


class SupabaseBot(SharedBot):
    """A shared bot whose memory is in a Supabase project."""

    project: SupabaseProject

    def keeps(self, text: str) -> bool:
        """Whether a text is anywhere in the project, in the data directory or in the log."""
        files = [path for path in self.project.folder.rglob("*") if path.is_file()]
        return super().keeps(text) or any(text.encode() in path.read_bytes() for path in files)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def session_bot(running: SupabaseProject) -> AsyncIterator[SharedBot]:
    """The shared bot, on Supabase."""
    folder = Path(tempfile.mkdtemp(prefix="relay-bot-"))
    users = ",".join(map(str, [*range(FIRST, LAST), HUGE]))
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        settings = environment(tg, model, folder / "data", **supabase_settings(running, RELAY_USERS=users))
        relay = RelayProcess(settings, folder / "relay.log")
        tg.user(OWNER, "Olga")
        await relay.start()
        try:
            await tg.wait_polling(timeout=30)
            bot = SupabaseBot(tg, model, relay, folder / "data")
            bot.project = running
            yield bot
        finally:
            await relay.stop()
            assert not [secret for secret in running.secrets if secret in relay.output()]
            shutil.rmtree(folder, ignore_errors=True)
