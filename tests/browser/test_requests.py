"""How often the app asks: whoever uses it quickly makes less than the 60 requests that a minute has."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Request, Route, expect

from tests.acceptance.harness import OWNER
from tests.browser.believable import compress, fill
from tests.browser.site import Site, list_pages, open_site
from tests.browser.visit import Visit

pytestmark = pytest.mark.asyncio(loop_scope="module")
A_MINUTE = 60
SECONDS = 5
"""How long something is moved."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    """A Relay that Ada has used for some weeks."""
    async with open_site() as site:
        shared_relay = site.shared_relay
        ada = shared_relay.tg.user(OWNER, "Ada")
        await fill(shared_relay, shared_relay.tg.dm(ada), ada)
        async with site.call() as api:
            await compress(api)
        yield site
        assert shared_relay.tracebacks() == []


def listen(here: Visit) -> list[str]:
    """The requests to the API from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/" in request.url:
            asked.append(f"{request.method} {request.url.partition('/api')[2]}")

    here.page.on("request", note)
    return asked


async def press(here: Visit, *keys: str) -> float:
    """Presses keys in turn for a few seconds, three in each. Returns how long that took."""
    began, at = time.monotonic(), 0
    while (took := time.monotonic() - began) < SECONDS:
        await here.page.keyboard.press(keys[at % len(keys)])
        at += 1
        await asyncio.sleep(0.33)
    return took


@pytest.mark.slow("test_ten_markers_are_opened_within_a_minute, and test_pages.py")
async def test_every_page_once_within_a_minute(browser: Browser, site: Site) -> None:
    addresses = await site.addresses()
    async with site.open(browser) as here:
        asked = listen(here)
        await here.page.reload()
        for name in list_pages():
            await here.go(addresses[name])
            await here.page.wait_for_load_state("load")
        assert {name.split("?")[0] for name in asked} >= {"GET /me", "GET /memories", "GET /usage", "GET /events"}
        assert len(asked) < A_MINUTE, asked
        assert here.trouble == []


async def test_ten_markers_are_opened_within_a_minute(browser: Browser, site: Site) -> None:
    addresses = await site.addresses()
    async with site.open(browser) as here:
        asked = listen(here)
        for _ in range(10):
            await here.go(addresses["markers"].rpartition("/")[0])
            await here.go(addresses["markers"])
            await expect(here.page.get_by_text("SURVIVES").first).to_be_visible()
        assert len(asked) < A_MINUTE, asked


@pytest.mark.parametrize(
    ("name", "slider", "rate"),
    [
        ("markers", "Weight", 0),
        pytest.param("compose", "Tokens", 40, marks=pytest.mark.slow("the slider of the settings")),
        ("settings", "Light", 40),
    ],
)
async def test_a_slider_that_moves_asks_seldom(browser: Browser, site: Site, name: str, slider: str, rate: int) -> None:
    addresses = await site.addresses()
    async with site.open(browser) as here:
        await here.go(addresses[name])
        moved = here.page.get_by_role("slider", name=slider).first
        await expect(moved).to_be_visible()
        await asyncio.sleep(1)  # what the page asks at first
        asked = listen(here)
        await moved.focus()
        took = await press(here, "ArrowRight", "ArrowRight", "ArrowLeft")
        assert len(asked) <= (1 + took * rate / A_MINUTE if rate else 0), asked
        if name == "settings":
            shown = await moved.input_value()
            await here.go(addresses["usage"])
            await here.go(addresses[name])
            await expect(here.page.get_by_role("slider", name=slider)).to_have_value(shown)
        assert here.trouble == []


async def test_a_page_opened_again_shows_what_is_still_being_saved(browser: Browser, site: Site) -> None:
    addresses = await site.addresses()

    async def delay(route: Route) -> None:
        await asyncio.sleep(1 if route.request.method == "PUT" else 0)
        await route.continue_()

    async with site.open(browser) as here:
        await here.page.route("**/memory/settings*", delay)
        await here.go(addresses["settings"])
        moved = here.page.get_by_role("slider", name="Moderate")
        await moved.focus()
        await here.page.keyboard.press("ArrowRight")
        await here.page.keyboard.press("ArrowRight")
        shown = await moved.input_value()
        await here.go(addresses["usage"])
        await here.go(addresses["settings"])
        await expect(moved).to_have_value(shown)


async def test_a_search_asks_once_a_second_while_it_is_typed(browser: Browser, site: Site) -> None:
    async with site.open(browser) as here:
        await here.go("/memory")
        asked = listen(here)
        await here.page.get_by_label("Search memories").focus()
        took = await press(here, *"the boiler is old and needs water")
        words = await here.page.get_by_label("Search memories").input_value()
        await asyncio.sleep(1.2)
        assert f"q={words.strip().replace(' ', '+')}" in asked[-1]
        assert len(asked) <= took + 2, asked
        await here.page.get_by_role("button", name="Clear the search").click()
        await here.settle()
        assert "q=" not in asked[-1]
