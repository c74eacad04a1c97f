"""Values of any shape pass through the client of PostgreSQL unchanged."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from relay.clients.postgres.database import Postgres
from relay.core.errors import DataRefused
from tests.integration.conftest import Server

MIRROR = "create function public.relay_mirror(p_value jsonb) returns jsonb language sql as 'select p_value'"


def nested(levels: int) -> Any:
    """Returns a value in that many lists and objects, as a model's tool input may be."""
    value: Any = "a \\u0000 b 🎈"
    for inside in itertools.islice(itertools.cycle((list, dict)), levels):
        value = [value] if inside is list else {"in": value}
    return value


@pytest.fixture
async def database(embedded: Server) -> AsyncIterator[Postgres]:
    """A client of a database that returns the values it is given."""
    name = embedded.create()
    embedded.command(MIRROR, name)
    client = Postgres(embedded.url(name), pooled=False)
    await client.open()
    yield client
    await client.close()
    embedded.drop(name)


@pytest.mark.parametrize("levels", [0, 199, 203, 255, 257, 600])
async def test_a_deeply_nested_value_arrives_unchanged(database: Postgres, levels: int) -> None:
    assert await database.call("mirror", value=[nested(levels)]) == [nested(levels)]
    with pytest.raises(DataRefused):
        await database.call("mirror", value=["\ud800", nested(levels)])
