"""Every page of the app over a running Relay fits, is readable, is reachable by keyboard, and sends no request to
another origin."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.acceptance.harness import OWNER
from tests.browser.believable import compress, fill
from tests.browser.site import Site, list_pages, open_site
from tests.browser.telegram_client import BRIDGE, sign_init_data, write_hash
from tests.browser.visit import DESKTOP, PHONE, Visit, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")
HOSTILE = '<img src=x onerror="window.hit=1"> \u202egnp.exe <b>bold</b>'
LEAVE = """path => {
  if (location.hash !== `#${path}`) document.querySelectorAll("h1").forEach((one) => (one.dataset.left = ""));
}"""
"""Marks the heading of the page that is left, which another page replaces."""
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
    assert await window.find_violations() == []
    assert await window.find_unreachable() == []
    assert window.trouble == []


@pytest.mark.parametrize("wrong", ["forged", "expired", "of another bot", "replayed"])
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


async def test_the_app_loads_within_a_second(browser: Browser, site: Site) -> None:
    async with site.open(browser) as here:
        await here.page.evaluate("sessionStorage.clear()")
        await here.page.goto("about:blank")
        began = time.monotonic()
        await here.page.goto(f"{site.origin}/{write_hash(sign_init_data(OWNER))}")
        await here.page.wait_for_selector(".row")
        assert time.monotonic() - began < 2.5  # a second on an otherwise idle machine
