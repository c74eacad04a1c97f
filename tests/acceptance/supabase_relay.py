"""A Relay that stores everything in a Supabase project, over REST only."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.standins.supabase import SupabaseProject


def supabase_settings(project: SupabaseProject, **more: str) -> dict[str, str]:
    """Returns the settings of a Relay on that project."""
    return {"SUPABASE_URL": project.url, "SUPABASE_SERVICE_ROLE_KEY": project.service_key, **more}


@contextlib.asynccontextmanager
async def open_supabase_relay(
    project: SupabaseProject, start: bool = True, **settings: str
) -> AsyncIterator[SharedRelay]:
    """Opens a bot on an empty project. At the end, asserts that its log holds no key and no password."""
    project.reset()
    async with open_relay(start, **supabase_settings(project, **settings)) as shared_relay:
        shared_relay.url = project.database.url("project", "postgres")
        yield shared_relay
        project.recover()
        told = shared_relay.relay.output()
        assert not [secret for secret in project.secrets if secret in told]
