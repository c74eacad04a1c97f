"""Fixtures of all unit tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.surfaces.telegram.formatting import markdown


@pytest.fixture(scope="session", autouse=True)
def slow_machine() -> Iterator[None]:
    """Allows formatting as much time as in a thread, since busy machines exceed the usual limit under coverage."""
    bound, markdown._SECONDS = markdown._SECONDS, markdown._SECONDS_BESIDE
    yield
    markdown._SECONDS = bound
