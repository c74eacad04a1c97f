"""What all unit tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.surfaces.telegram.formatting import markdown


@pytest.fixture(scope="session", autouse=True)
def slow_machine() -> Iterator[None]:
    """Formatting may take as long as in a thread: on a busy machine, with coverage, texts of tests took longer."""
    bound, markdown._SECONDS = markdown._SECONDS, markdown._SECONDS_BESIDE
    yield
    markdown._SECONDS = bound
