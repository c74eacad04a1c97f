"""A browser for the tests of one file, and the app's files. Without a browser, the tests are skipped with a message."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from playwright.async_api import Browser

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first takes a third less processor time than a whole Chromium."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
MISSING = (
    "Playwright is missing: pip install --group dev"
    if not importlib.util.find_spec("playwright")
    else "no Chromium here (Debian: apt install chromium-headless-shell; Ubuntu: apt install chromium)"
    if CHROMIUM is None
    else ""
)

if MISSING:
    collect_ignore_glob = ["test_*.py"]


def pytest_report_header() -> Iterator[str] | str:
    return f"tests/browser: left out, {MISSING}" if MISSING else ""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    from tests.browser.visit import open_browser

    async with open_browser() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def origin() -> AsyncIterator[str]:
    """The address of the app's files, served alone."""
    from tests.browser.kit import serve_files

    async with serve_files() as origin:
        yield origin


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
