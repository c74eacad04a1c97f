"""A house whose Relay keeps everything in a Supabase project, over REST alone."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from tests.acceptance.house import House, open_house
from tests.standins.supabase import SupabaseProject


def named(project: SupabaseProject, **more: str) -> dict[str, str]:
    """The settings of a Relay on that project."""
    return {"SUPABASE_URL": project.url, "SUPABASE_SERVICE_ROLE_KEY": project.service_key, **more}


@contextlib.asynccontextmanager
async def open_home(project: SupabaseProject, start: bool = True, **settings: str) -> AsyncIterator[House]:
    """A bot on an empty project. At the end its log holds neither a key nor a password."""
    project.reset()
    async with open_house(start, **named(project, **settings)) as house:
        house.url = project.database.url("project", "postgres")
        yield house
        project.recover()
        told = house.relay.output()
        assert not [secret for secret in project.secrets if secret in told]
