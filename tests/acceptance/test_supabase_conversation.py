"""The same conversations as on the embedded database, on Supabase."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.acceptance.home import named
from tests.acceptance.test_conversation import *  # noqa: F403
from tests.acceptance.town import FIRST, HUGE, LAST, SESSION, Town
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.supabase import SupabaseProject
from tests.standins.telegram import TelegramStandIn

pytestmark = SESSION


@pytest.fixture(scope="module")
def project() -> Iterator[SupabaseProject]:
    with SupabaseProject() as project:
        project.migrate()
        yield project


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bot(project: SupabaseProject) -> AsyncIterator[Town]:
    """The one bot, on Supabase."""
    folder = Path(tempfile.mkdtemp(prefix="relay-town-"))
    users = ",".join(map(str, [*range(FIRST, LAST), HUGE]))
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        settings = environment(tg, model, folder / "data", **named(project, RELAY_USERS=users))
        relay = RelayProcess(settings, folder / "relay.log")
        tg.user(OWNER, "Olga")
        await relay.start()
        try:
            await tg.wait_polling(timeout=30)
            yield Town(tg, model, relay, folder / "data")
        finally:
            await relay.stop()
            assert not [secret for secret in project.secrets if secret in relay.output()]
            shutil.rmtree(folder, ignore_errors=True)
