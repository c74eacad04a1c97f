"""Every page of the app over a running Relay fits, is readable, is reachable by keyboard, and sends no request to
another origin. Even quick use of the app stays below the limit of 60 requests a minute."""

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
from tests.browser.telegram_client import BRIDGE, sign_init_data, write_hash
from tests.browser.visit import DESKTOP, PHONE, Visit, visit
from tests.sampled import sampled

pytestmark = pytest.mark.asyncio(loop_scope="module")
HOSTILE = '<img src=x onerror="window.hit=1"> \u202egnp.exe <b>bold</b>'
LEAVE = """path => {
  if (location.hash !== `#${path}`) document.querySelectorAll("h1").forEach((one) => (one.dataset.left = ""));
}"""
"""Marks the heading of the page that is left, which another page replaces."""
A_MINUTE = 60
SECONDS = 5
"""How long something is moved."""
LOOKS = [
    pytest.param((PHONE, "light"), id="phone-light"),
    pytest.param((DESKTOP, "dark"), id="desktop-dark", marks=pytest.mark.slow("the same on a phone, and test_kit.py")),
]


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


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=LOOKS)
async def window(browser: Browser, site: Site, request: pytest.FixtureRequest) -> AsyncIterator[Visit]:
    """A window in which Ada opens one page after another."""
    size, scheme = request.param
    async with site.open(browser, size=size, scheme=scheme) as here:
        yield here


@pytest.mark.parametrize("name", list_pages())
async def test_every_page_fits_the_screen_and_is_accessible(site: Site, window: Visit, name: str) -> None:
    window.trouble.clear()
    path = (await site.addresses())[name]
    await window.page.evaluate(LEAVE, path)
    await window.go(path, "h1:not([data-left])")
    await expect(window.page.get_by_role("heading", level=1)).to_be_visible()
    await expect(window.page.locator(".empty.bad")).to_have_count(0)
    await expect(window.page.locator(".row-meta > span:empty")).to_have_count(0)
    assert await window.page.title() != "Relay"
    assert await window.find_overflow() == []
    assert await window.find_cut_fields() == []
    assert await window.find_violations() == []
    assert await window.find_unreachable() == []
    assert window.trouble == []


async def test_every_page_fits_a_phone_whose_text_is_twice_as_large(browser: Browser, site: Site) -> None:
    async with site.open(browser, size=PHONE) as here:
        devtools = await here.page.context.new_cdp_session(here.page)
        await devtools.send("Page.setFontSizes", {"fontSizes": {"standard": 32}})
        for path in (await site.addresses()).values():
            await here.go(path)
            assert await here.find_overflow() == [], path
            assert await here.find_broken_words() == [], path
        assert await here.page.evaluate("getComputedStyle(document.body).fontSize") == "30px"


@pytest.mark.parametrize("wrong", sampled(["replayed", "forged", "expired", "of another bot"], 4))
async def test_an_invalid_telegram_proof_does_not_sign_in(browser: Browser, site: Site, wrong: str) -> None:
    proof = {
        "forged": sign_init_data(OWNER).replace("Ada", "Bea"),
        "expired": sign_init_data(OWNER, when=time.time() - 3600),
        "of another bot": sign_init_data(OWNER, token="1:other"),
        "replayed": sign_init_data(OWNER),
    }[wrong]
    if wrong == "replayed":
        async with visit(browser, site.origin, script=BRIDGE) as first:
            await first.page.goto(f"{site.origin}/{write_hash(proof)}")
            await first.settle()
    async with visit(browser, site.origin, script=BRIDGE) as here:
        await here.page.goto(f"{site.origin}/{write_hash(proof)}")
        await here.settle(".alone")
        await expect(here.page.get_by_role("main")).to_contain_text("Open this page again")
        assert await here.page.evaluate("sessionStorage.getItem('relay.token')") is None


async def test_a_memory_from_the_chat_appears_at_once_and_as_text(browser: Browser, site: Site) -> None:
    shared_relay = site.shared_relay
    chat = shared_relay.guest()
    async with site.open(browser, chat.id, size=PHONE) as here:
        await here.go("/memory")
        await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, f"/remember {HOSTILE}"))
        await expect(here.page.locator(".list")).to_contain_text("<img src=x")
        await expect(here.page.locator(".list")).to_contain_text("<b>bold</b>")
        assert await here.page.evaluate("window.hit") is None
        assert await here.find_overflow() == []
        assert here.trouble == []


async def test_memory_is_paused_and_turned_on_in_the_app_and_the_chat(browser: Browser, site: Site) -> None:
    shared_relay = site.shared_relay
    chat = shared_relay.guest()
    async with site.open(browser, chat.id, size=PHONE) as here:
        await here.go("/memory")
        switch = here.page.get_by_label("Use and learn")
        await switch.select_option("Pause for a day")
        await expect(here.page.get_by_text("Memory is paused, so I'm not learning")).to_be_visible()
        await expect(switch.locator("option:checked")).to_contain_text("Paused until")
        said = await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, "/memory here"))
        assert "paused" in said.text, said.text
        await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, "/memory resume"))
        await expect(switch).to_have_value("on")
        await expect(here.page.get_by_text("so I'm not learning")).to_have_count(0)
        assert here.trouble == []


@pytest.mark.slow("test_every_page_fits_the_screen_and_is_accessible")
async def test_long_topics_and_tags_fit_a_phone(browser: Browser, site: Site) -> None:
    sql, addresses = site.shared_relay.sql, await site.addresses()
    long = ["structural engineering of long footbridges in Rotterdam", "Donaudampfschifffahrtsgesellschaft" * 2]
    sql("update relay.session set topics = %s where id = %s", long, addresses["session"].rpartition("/")[2])
    async with site.call() as api:
        memory = (await api.get("/memories?limit=1")).json()["memories"][0]["id"]
    sql("update relay.memory set tags = %s where id = %s", long, memory)
    async with site.open(browser, size=PHONE) as here:
        for path in (addresses["session"], f"/memory/{memory}"):
            await here.go(path)
            await expect(here.page.get_by_text(long[0])).to_be_visible()
            assert await here.find_overflow() == []


async def test_nobody_can_open_another_persons_pages(browser: Browser, site: Site) -> None:
    addresses = await site.addresses()
    async with site.call() as api:
        number = (await api.get("/memories?limit=1")).json()["memories"][0]["id"]
    async with site.open(browser, site.shared_relay.guest().id) as here:
        known = (addresses[name] for name in ("session", "why") if name in addresses)
        for path in (f"/memory/{number}", "/preferences/999", "/reminders/999", *known):
            await here.go(path, ".empty.bad")
            await expect(here.page.get_by_text("Not found").first).to_be_visible()
            await expect(here.page.get_by_role("heading", level=1)).to_be_visible()


async def test_the_page_of_the_api_has_its_style(browser: Browser, site: Site) -> None:
    async with visit(browser, site.origin) as here:
        await here.page.goto(f"{site.origin}/api/docs")
        await expect(here.page.locator("body")).to_have_css("max-width", "860px")
        assert here.trouble == []


async def test_the_app_loads_within_a_second(browser: Browser, site: Site) -> None:
    async with site.open(browser) as here:
        await here.page.evaluate("sessionStorage.clear()")
        await here.page.goto("about:blank")
        began = time.monotonic()
        await here.page.goto(f"{site.origin}/{write_hash(sign_init_data(OWNER))}")
        await here.page.wait_for_selector(".row")
        assert time.monotonic() - began < 2.5  # a second on an otherwise idle machine


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


@pytest.mark.slow("test_a_slider_that_moves_asks_seldom, and each page above")
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


@pytest.mark.slow("test_a_page_opened_again_shows_what_is_still_being_saved, and each page above")
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
        # It doesn't jump back to the answer to an earlier move.
        await moved.focus()
        for _ in range(8):
            await here.page.keyboard.press("ArrowRight")
            await asyncio.sleep(0.25)
        wanted = str(round(float(shown) + 0.08, 2))
        await expect(moved).to_have_value(wanted)
        await asyncio.sleep(2)
        await expect(moved).to_have_value(wanted)
        kept = here.page.get_by_label("Which versions stay")
        before = await kept.input_value()
        await kept.fill("7")
        await kept.press("Escape")
        await expect(kept).to_have_value(before)
        await expect(kept).not_to_be_focused()


@pytest.mark.slow("test_a_slider_that_moves_asks_seldom")
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
