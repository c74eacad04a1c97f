"""The kill tests of the embedded database, on Supabase."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.supabase_relay import open_supabase_relay
from tests.acceptance.test_kill import *  # noqa: F403
from tests.standins.supabase import SupabaseProject

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.slow("test_kill.py on the embedded server, and over REST test_queue.py and test_lease_sql.py"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay(running: SupabaseProject) -> AsyncIterator[SharedRelay]:
    async with open_supabase_relay(running) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []
