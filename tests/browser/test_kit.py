"""The kit in a browser: lists, dialogs, filters in the address, keys, errors, and sign-in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from tests.browser.kit import PlayedApi, look_again, memory, opened
from tests.browser.telegram_client import BRIDGE, NIGHT, sign_init_data, write_hash
from tests.browser.visit import DESKTOP, PHONE
from tests.sampled import sampled

pytestmark = pytest.mark.asyncio(loop_scope="module")
INSIDE = """() => {
  const one = document.activeElement;
  return one === document.body || one.closest("dialog") !== null;
}"""
"""A dialog lets the focus move to the browser's own bars, but never to the page."""
BETWEEN = """() => {
  const row = document.activeElement.getBoundingClientRect();
  const [bar, nav] = [".tools", ".nav"].map((one) => document.querySelector(one).getBoundingClientRect());
  return row.top >= bar.bottom - 1 && row.bottom <= nav.top + 1;
}"""
"""Tells whether what has the focus is in full view, between the search and the navigation."""
RECORD_OBSERVERS = """
const Real = IntersectionObserver;
window.observers = [];
window.IntersectionObserver = class extends Real {
  constructor(callback, options) {
    super(callback, options);
    window.observers.push(callback);
  }
};
"""
LEFT_AND_BACK = """() => {
  const boundingClientRect = { height: 2000 };
  const entries = [false, true].map((isIntersecting) => ({ isIntersecting, boundingClientRect }));
  window.observers[0](entries);
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
"""Tells the list's first block both at once, as after a window has changed its size twice."""
LOADED = "() => performance.getEntriesByType('resource').some((one) => one.name.endsWith('/pages/reminders.js'))"
BLOCK_STORAGE = """
function refuse() { throw new DOMException("The operation is insecure.", "SecurityError"); }
Object.defineProperty(window, "sessionStorage", { get: refuse });
window.BroadcastChannel = refuse;
"""
HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>\u202egnp.exe\u202c ' + "x" * 100_000


@pytest.fixture
def api() -> PlayedApi:
    return PlayedApi()


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(PHONE, "light", id="phone-light"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.slow("the same on a phone")),
    ],
)
async def test_every_component_fits_the_screen_and_is_accessible(
    browser: Browser, origin: str, api: PlayedApi, size: tuple[int, int], scheme: str
) -> None:
    async with opened(browser, origin, api, size=size, scheme=scheme) as here:
        await here.go("/memory?all=1", ".column")
        assert await here.find_overflow() == []
        assert await here.find_violations() == []
        assert await here.find_unreachable() == []
        await here.page.emulate_media(forced_colors="active")
        marked = (".switch", ".segmented", "input[type=range]", ".meter-bar", ".column", ".chip[aria-pressed=true]")
        for state in marked:
            await expect(here.page.locator(state).first).to_have_css("forced-color-adjust", "none")
        await expect(here.page.locator(".nav [aria-current]").first).to_have_css("border-style", "solid")
        await expect(here.page.locator(".button.primary").first).to_have_css("forced-color-adjust", "none")
        await here.page.emulate_media(forced_colors="none")
        await here.page.get_by_role("button", name="Open", exact=True).click()
        await here.settle("dialog")
        assert await here.find_violations() == []
        await here.page.get_by_role("button", name="Cancel").click()
        await here.page.get_by_role("button", name="Actions").first.click()
        await expect(here.page.get_by_role("menuitem")).to_have_count(2)
        assert await here.find_violations() == []
        assert here.trouble == []


async def test_the_sign_in_link_is_used_once_and_removed_from_the_address(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    async with opened(browser, origin, api, "#/memory/3?link=once") as here:
        assert here.page.url == f"{origin}/#/memory/3"
        assert [body for what, _, body in api.calls if what == "POST /session"] == [{"link": "once"}]
        assert api.called("GET /me")[0]["authorization"] == "Bearer secret"
        await here.page.reload()
        await here.settle()
        assert len(api.called("POST /session")) == 1
        assert here.trouble == []


async def test_a_browser_that_blocks_storage_is_told_so(browser: Browser, origin: str, api: PlayedApi) -> None:
    async with opened(browser, origin, api, ready=".alone", script=BLOCK_STORAGE) as here:
        await expect(here.page.get_by_role("alert")).to_contain_text("The browser blocks Relay's storage.")


async def test_a_page_opens_for_the_first_time_while_the_server_is_away(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    async with opened(browser, origin, api, ready=".row") as here:
        await here.page.wait_for_function(LOADED)
        await here.page.route("**/*.js", lambda route: route.abort())
        await here.page.get_by_role("link", name="Reminders").click()
        await expect(here.page.get_by_role("heading", level=1)).to_have_text("Reminders")


@pytest.mark.slow("test_the_sign_in_link_is_used_once_and_removed_from_the_address")
async def test_a_sign_in_link_works_in_the_window_that_was_signed_out(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    async with opened(browser, origin, api, "#/memory", ready=".alone") as here:
        await here.page.goto(f"{origin}/#link=once")
        await expect(here.page.get_by_role("link", name="Fact 3 ")).to_be_visible()
        assert [body for what, _, body in api.calls if what == "POST /session"] == [{"link": "once"}]
        assert here.page.url == f"{origin}/#/memory"
        assert here.trouble == []


@pytest.mark.slow("test_the_sign_in_link_is_used_once_and_removed_from_the_address")
async def test_a_sign_in_that_the_server_could_not_take_is_tried_again(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    api.answers["POST /session"] = [(503, {"detail": "The database is away.", "code": "away"})]
    async with opened(browser, origin, api, ready=".alone") as here:
        await expect(here.page.get_by_role("alert")).to_contain_text("The server answered 503.")
        api.answers.clear()
        await here.page.get_by_role("button", name="Retry").click()
        await expect(here.page.get_by_role("link", name="Fact 3 ")).to_be_visible()
        assert here.page.url == f"{origin}/#/memory"


@pytest.mark.slow("test_the_sign_in_link_is_used_once_and_removed_from_the_address")
async def test_a_request_whose_first_try_still_runs_waits_for_it(browser: Browser, origin: str, api: PlayedApi) -> None:
    running = (409, {"detail": "The same request is still being answered.", "code": "running"})
    api.answers["POST /memories"] = [running, (201, {})]
    async with opened(browser, origin, api, ready=".row") as here:
        api.headers = {"Retry-After": "1"}
        path = "/kit/api.js"
        await here.page.evaluate("path => import(path).then(({ post }) => post('/memories', { text: 'x' }))", path)
        first, second = api.called("POST /memories")
        assert first["idempotency-key"] == second["idempotency-key"]


@pytest.mark.slow("test_the_sign_in_link_is_used_once_and_removed_from_the_address")
async def test_a_second_window_is_signed_in_by_the_first(browser: Browser, origin: str, api: PlayedApi) -> None:
    async with opened(browser, origin, api) as here:
        second = await here.page.context.new_page()
        await api.play(second)
        await second.goto(f"{origin}/#/memory/3")
        await expect(second.locator(".words")).to_have_text("Fact 3")
        assert len(api.called("POST /session")) == 1


async def test_sign_in_colours_and_back_button_of_telegram_are_used(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    proof = sign_init_data(1001)
    async with opened(browser, origin, api, write_hash(proof, NIGHT), script=BRIDGE, size=PHONE) as here:
        page = here.page
        assert api.called("POST /session")[0]["authorization"] == f"tma {proof}"
        assert "tgWebAppData" not in page.url
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 22, 33)"
        assert await page.evaluate("document.documentElement.dataset.scheme") == "dark"
        assert await here.posted("web_app_ready") == [{}]
        assert await here.posted("web_app_expand") == [{}]
        assert await here.find_violations() == []
        await page.get_by_role("link", name="Fact 0").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("One memory")
        assert (await here.posted("web_app_setup_back_button"))[-1] == {"is_visible": True}
        await page.evaluate("Telegram.WebView.receiveEvent('back_button_pressed', null)")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Memory")
        assert (await here.posted("web_app_setup_back_button"))[-1] == {"is_visible": False}
        await page.evaluate("Telegram.WebView.receiveEvent('theme_changed', {theme_params: {bg_color: '#ffffff'}})")
        assert await page.evaluate("document.documentElement.dataset.scheme") == "light"
        assert here.trouble == []


@pytest.mark.slow("test_filters_are_in_the_address_and_survive_a_reload")
async def test_a_start_parameter_opens_its_page(browser: Browser, origin: str, api: PlayedApi) -> None:
    address = write_hash(sign_init_data(1001), start="memory-7")
    async with opened(browser, origin, api, address, script=BRIDGE) as here:
        await expect(here.page.locator(".words")).to_have_text("Fact 7")


async def test_a_refused_or_signed_out_person_is_told_how_to_sign_in(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    api.answers["POST /session"] = [(401, {"detail": "No.", "code": "not_signed_in"})]
    async with opened(browser, origin, api, ready=".alone") as here:
        await expect(here.page.get_by_role("main")).to_contain_text("relay web")
    api.answers.clear()
    async with opened(browser, origin, api) as here:
        api.answers["GET /memories/3"] = [(401, {"detail": "No.", "code": "not_signed_in"})]
        await here.page.get_by_role("link", name="Fact 3").click()
        await expect(here.page.get_by_role("main")).to_contain_text("relay web")
        assert await here.page.evaluate("sessionStorage.length") == 0


async def test_hostile_text_is_shown_as_text(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.memories = [memory(1, HOSTILE), memory(2, "\u200f\u202eright to left")]
    async with opened(browser, origin, api, size=PHONE) as here:
        page = here.page
        await expect(page.locator(".row-title").first).to_contain_text("<img src=x")
        assert await here.find_overflow() == []
        await page.locator("a.row-main").first.click()
        await expect(page.locator(".words")).to_have_text(HOSTILE)
        assert await here.find_overflow() == []
        assert await page.evaluate("window.hit") is None
        assert await page.locator("img:not(.brand img), script:not([src])").count() == 0
        assert here.trouble == []


@pytest.mark.slow("the other tests of long lists, in the same file")
async def test_a_list_of_ten_thousand_rows_draws_only_a_few(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.memories = [memory(number) for number in range(10_000)]
    async with opened(browser, origin, api) as here:
        page = here.page
        for blocks in range(1, 200, 4):
            await page.wait_for_function("least => document.querySelectorAll('.list > *').length >= least", arg=blocks)
            await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(page.locator(".tail")).to_have_count(0)
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(page.get_by_role("link", name="Fact 9999 ")).to_be_visible()
        assert await page.locator(".row").count() < 400
        await page.evaluate("scrollTo(0, 0)")
        await expect(page.get_by_role("link", name="Fact 0 ").first).to_be_visible()
        assert here.trouble == []


@pytest.mark.slow("test_no_row_is_missing_after_others_were_deleted_or_added")
async def test_a_list_is_where_it_was_when_one_comes_back(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.memories = [memory(number) for number in range(300)]
    async with opened(browser, origin, api, size=PHONE) as here:
        page = here.page
        while await page.locator("a.row-main", has_text="Fact 170").count() == 0:
            await page.mouse.wheel(0, 2000)
        await page.locator("a.row-main", has_text="Fact 170").click()
        await expect(page.locator(".words")).to_have_text("Fact 170")
        await expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        await page.go_back()
        await expect(page.locator("a.row-main", has_text="Fact 170")).to_be_in_viewport()
        await page.get_by_role("link", name="Sessions").click()
        await expect(page.get_by_role("heading", level=1)).to_be_in_viewport()


@pytest.mark.slow("test_no_row_is_missing_after_others_were_deleted_or_added")
async def test_a_list_that_was_far_away_for_a_moment_is_drawn(browser: Browser, origin: str, api: PlayedApi) -> None:
    async with opened(browser, origin, api, script=RECORD_OBSERVERS, ready=".row") as here:
        await here.page.evaluate(LEFT_AND_BACK)
        await expect(here.page.locator(".row")).to_have_count(30)


@pytest.mark.parametrize(("gone", "new"), sampled([(5, 0), (0, 3)], 2))
async def test_no_row_is_missing_after_others_were_deleted_or_added(
    browser: Browser, origin: str, api: PlayedApi, gone: int, new: int
) -> None:
    api.memories = [memory(number) for number in range(600)]
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await page.wait_for_function("() => document.querySelectorAll('.list > *').length === 5")
        await page.evaluate("scrollTo(0, 0)")
        api.memories = [*(memory(1000 + number) for number in range(new)), *api.memories[gone:]]
        await look_again(page)
        await expect(page.get_by_text(f"{len(api.memories)} memories")).to_be_visible()
        while await page.locator(".tail").count():
            await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(page.get_by_role("listitem").last).to_have_attribute("aria-posinset", str(len(api.memories)))


async def test_filters_are_in_the_address_and_survive_a_reload(browser: Browser, origin: str, api: PlayedApi) -> None:
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.keyboard.press("/")
        await page.keyboard.type("fact 12")
        await expect(page.locator(".row")).to_have_count(1)
        await page.get_by_role("button", name="Goals").click()
        assert page.url == f"{origin}/#/memory?q=fact+12&kind=goal"
        await page.reload()
        await expect(page.get_by_role("searchbox")).to_have_value("fact 12")
        await expect(page.get_by_role("button", name="Goals")).to_have_attribute("aria-pressed", "true")
        await page.get_by_role("button", name="Clear the search").click()
        await expect(page.locator(".row")).to_have_count(30)
        assert page.url == f"{origin}/#/memory?kind=goal"


async def test_keys_open_pages_and_move_in_lists_except_while_typing(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.keyboard.press("c")
        await expect(page.get_by_role("dialog")).to_contain_text("Compress")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_have_count(1)
        await page.keyboard.press("Escape")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_contain_text("A row's actions")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.locator("a.row-main").first.focus()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page.locator(".words")).to_have_text("Fact 1")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Memory")
        await page.keyboard.press("/")
        await page.keyboard.type("zzz")
        await expect(page.get_by_role("status").filter(has_text="Nothing found")).to_be_visible()
        await page.get_by_role("searchbox").clear()
        await page.keyboard.type("g c ?")
        await expect(page.get_by_role("searchbox")).to_have_value("g c ?")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert here.trouble == []


async def test_a_dialog_traps_the_focus_and_returns_it(browser: Browser, origin: str, api: PlayedApi) -> None:
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.get_by_role("button", name="Open", exact=True).click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        for _ in range(6):
            await page.keyboard.press("Tab")
            assert await page.evaluate(INSIDE)
        await page.keyboard.press("Escape")
        assert await page.evaluate("document.activeElement.textContent.trim()") == "Open"


@pytest.mark.parametrize("key", ["ArrowDown", "ArrowUp"])
async def test_a_row_that_gets_the_focus_is_between_the_bars(
    browser: Browser, origin: str, api: PlayedApi, key: str
) -> None:
    async with opened(browser, origin, api, size=PHONE) as here:
        await here.page.locator(".row-main").nth(0 if key == "ArrowDown" else 20).focus()
        for _ in range(12):
            await here.page.keyboard.press(key)
            assert await here.page.evaluate(BETWEEN)


async def test_typed_text_stays_after_the_session_ends_and_after_escape_but_not_after_cancel(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    api.answers = {"PATCH /memories/1": [(401, {"detail": "You aren't signed in.", "code": "not_signed_in"})]}
    async with opened(browser, origin, api, ready=".row") as here:
        page = here.page

        async def edit() -> None:
            await page.locator(".row-main").nth(1).click(button="right")
            await page.get_by_role("menuitem", name="Edit").click()

        field = page.get_by_label("Memory", exact=True)
        await edit()
        await field.fill("Likes rye and much more")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text("You aren't signed in.")
        await expect(field).to_have_value("Likes rye and much more")
        await page.keyboard.press("Escape")
        await edit()
        await expect(field).to_have_value("Likes rye and much more")
        await page.get_by_role("button", name="Cancel").click()
        await edit()
        await expect(field).to_have_value("Fact 1")


async def test_back_closes_more_and_a_link_to_the_page_itself_is_no_step_back(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    async with opened(browser, origin, api, "#/memory/3?link=once", size=PHONE) as here:
        page, title = here.page, here.page.get_by_role("heading", level=1)
        await page.evaluate("document.querySelector('.nav a').href = location.hash")
        await page.locator(".nav a").first.click()
        await page.keyboard.press("Escape")
        await expect(title).to_have_text("Memory")
        await page.locator("a.row-main").nth(2).click()
        await expect(title).to_have_text("One memory")
        await page.get_by_role("button", name="More").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.go_back()
        await expect(title).to_have_text("Memory")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_page_is_read_again_while_the_server_is_away(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.answers = {
        "GET /memories/3": [(500, {"detail": "A fault.", "code": "fault"})],
        "GET /memories/4": [(403, {"detail": "No.", "code": "not_allowed"})],
    }
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.clock.install()
        for path, words in (("/memory/4", "No."), ("/memory/3", "A fault.")):
            await here.go(path)
            await expect(page.get_by_role("alert")).to_contain_text(words)
            del api.answers[f"GET {path.replace('memory', 'memories')}"]
            await page.clock.run_for(6000)
        await expect(page.locator(".words")).to_have_text("Fact 3")
        assert [len(api.called(f"GET /memories/{id}")) for id in (3, 4)] == [2, 1]


async def test_a_refusal_is_shown_in_the_dialog_or_as_a_toast(browser: Browser, origin: str, api: PlayedApi) -> None:
    refusal = (409, {"detail": "A composition uses it.", "code": "conflict"})
    api.answers = {"DELETE /refused": [refusal], "DELETE /memories/0": [refusal]}
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.get_by_role("button", name="Open", exact=True).click()
        await page.get_by_role("dialog").get_by_role("button", name="Compress").click()
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text("A composition uses it.")
        await page.keyboard.press("Escape")
        await page.locator(".row-more").first.click()
        await page.get_by_role("menuitem", name="Delete").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(page.locator(".toast")).to_contain_text("A composition uses it.")
        await expect(page.locator(".row")).to_have_count(30)


@pytest.mark.slow("test_a_refusal_is_shown_in_the_dialog_or_as_a_toast")
async def test_a_text_that_is_refused_stays_in_its_dialog(browser: Browser, origin: str, api: PlayedApi) -> None:
    refusal = (422, {"detail": "That is too long.", "code": "out_of_range"})
    api.answers = {"PATCH /memories/1": [refusal, (200, memory(1, "Likes rye"))]}
    async with opened(browser, origin, api) as here:
        page = here.page
        await page.locator(".row-main").nth(1).click(button="right")
        await page.get_by_role("menuitem", name="Edit").click()
        await page.get_by_label("Memory").fill("Likes rye and more")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text("That is too long.")
        await expect(page.get_by_label("Memory")).to_have_value("Likes rye and more")
        await page.get_by_label("Memory").fill("Likes rye")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator(".row-title").nth(1)).to_have_text("Likes rye")


@pytest.mark.slow("test_a_refusal_is_shown_in_the_dialog_or_as_a_toast")
async def test_a_dialog_stays_when_what_one_before_it_saves_is_done(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    saved = asyncio.Event()

    async def answer_late(route: Route) -> None:
        await saved.wait()
        await route.fulfill(json=memory(1, "Likes rye"))

    async with opened(browser, origin, api) as here:
        page = here.page
        await page.route("**/api/memories/1", answer_late)
        for row, words in ((1, "Likes rye"), (2, "Likes wheat")):
            await page.locator(".row-main").nth(row).click(button="right")
            await page.get_by_role("menuitem", name="Edit").click()
            await page.get_by_label("Memory").fill(words)
            if row == 1:
                await page.get_by_role("button", name="Save").click()
                await page.keyboard.press("Escape")
        saved.set()
        await expect(page.locator(".row-title").nth(1)).to_have_text("Likes rye")
        await expect(page.get_by_label("Memory")).to_have_value("Likes wheat")


async def test_times_and_numbers_are_written_alike_in_every_browser(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    for locale in ("en-US", "de-DE", "ar-EG"):
        async with opened(browser, origin, api, locale=locale) as here:
            told = await here.page.evaluate(
                """async () => {
                  const { ago, moment, number, time, weekday } = await import("/kit/format.js");
                  const [at, midnight] = ["2026-11-08T08:05:00Z", "2040-06-06T22:00:00Z"];
                  const later = Date.parse(at) + 600_000;
                  return [time(at), moment(at), weekday(midnight), time(midnight), number(12345), ago(at, later)];
                }"""
            )
            assert told == ["9:05", "8 Nov 2026, 9:05", "Thu 7 Jun 2040", "0:00", "12,345", "10 minutes ago"]


async def test_days_are_counted_as_in_the_calendar(browser: Browser, origin: str, api: PlayedApi) -> None:
    async with opened(browser, origin, api) as here:
        told = await here.page.evaluate(
            """async () => {
              const { ago, useZone } = await import("/kit/format.js");
              useZone("Europe/Berlin");
              const now = new Date("2026-11-27T17:27:00Z").getTime();
              const days = ["2026-11-28T18", "2026-11-29T04", "2026-11-25T22", "2026-11-27T20", "2027-01-10T08"];
              return days.map((at) => ago(`${at}:00Z`, now));
            }"""
        )
        assert told == ["in 1 day", "in 2 days", "2 days ago", "in 3 hours", "in 1 month"]


@pytest.mark.slow("test_a_refusal_is_shown_in_the_dialog_or_as_a_toast")
async def test_a_double_click_sends_one_request(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.answers = {"DELETE /refused": [(409, {"detail": "No.", "code": "conflict"})]}
    async with opened(browser, origin, api) as here:
        await here.page.get_by_role("button", name="Open", exact=True).click()
        await here.page.get_by_role("dialog").get_by_role("button", name="Compress").dblclick()
        await expect(here.page.get_by_role("dialog").get_by_role("alert")).to_have_text("No.")
        assert len(api.called("DELETE /refused")) == 1


async def test_rows_can_be_deleted_edited_and_selected(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.answers = {"DELETE /memories/0": [(204, {})], "PATCH /memories/1": [(200, memory(1, "Likes rye"))]}
    async with opened(browser, origin, api, size=PHONE) as here:
        page = here.page
        await page.locator(".row-more").first.click()
        await page.get_by_role("menuitem", name="Delete").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(page.locator(".row")).to_have_count(29)
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".row")).to_have_count(30)
        await page.locator(".row-main").nth(1).click(button="right")
        await page.get_by_role("menuitem", name="Edit").click()
        await page.get_by_label("Memory").fill("Likes rye")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".row-title").nth(1)).to_have_text("Likes rye")
        assert [body for what, _, body in api.calls if what == "PATCH /memories/1"] == [{"text": "Likes rye"}]
        await page.get_by_role("button", name="Select").click()
        await page.get_by_role("checkbox").nth(2).check()
        await expect(page.get_by_text("1 selected")).to_be_visible()


async def test_a_busy_server_is_waited_for(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.headers = {"Retry-After": "0.2"}
    busy = (429, {"detail": "Too many requests.", "code": "rate"})
    api.answers = {"GET /memories": [*[busy] * 4, (200, {"memories": [memory(1)], "total": 1, "next": None})]}
    async with opened(browser, origin, api) as here:
        await expect(here.page.locator(".row")).to_have_count(1)


@pytest.mark.slow("test_filters_are_in_the_address_and_survive_a_reload and the refusals above")
async def test_requests_to_an_unavailable_server_are_repeated(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.answers = {"GET /memories": [(503, {"detail": "The database is away.", "code": "away"})]}
    async with opened(browser, origin, api, ready="[role=alert]") as here:
        await expect(here.page.get_by_role("alert")).to_contain_text("The database is away.")
        api.answers.clear()
        await here.page.get_by_role("button", name="Retry").click()
        await expect(here.page.locator(".row")).to_have_count(30)


@pytest.mark.slow("test_filters_are_in_the_address_and_survive_a_reload and the refusals above")
async def test_a_refused_search_shows_why_and_not_what_the_one_before_found(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    async with opened(browser, origin, api) as here:
        await expect(here.page.locator(".row")).to_have_count(30)
        api.answers["GET /memories"] = [(422, {"detail": "That is too long.", "code": "out_of_range"})]
        await here.page.get_by_role("searchbox").fill("fact 12")
        await expect(here.page.get_by_role("alert")).to_contain_text("That is too long.")
        await expect(here.page.locator(".row")).to_have_count(0)
        api.answers.clear()
        await here.page.get_by_role("button", name="Retry").click()
        await expect(here.page.locator(".row")).to_have_count(1)


def session(number: int, linked: str | None = None) -> dict[str, Any]:
    """Returns a session as the API lists it."""
    at = f"2026-05-{28 - number // 4:02d}T10:00:00Z"
    return {
        "sessionId": str(number), "title": f"Talk {number}", "opening": "", "originalTokens": 9, "originalMessages": 2,
        "firstTimestamp": at, "registered": False, "current": False, "markers": 0, "versions": 0, "linked": linked,
    }  # fmt: skip


@pytest.mark.slow("test_suggest_sql.py")
async def test_sessions_linked_from_other_projects_come_last(browser: Browser, origin: str, api: PlayedApi) -> None:
    project = {"projectId": "t1", "displayName": "Private chat", "space": "private", "sessions": 53}
    pages: list[dict[str, Any]] = [
        {"sessions": [*map(session, range(50)), session(99, "same garden")], "total": 53, "next": "50"},
        {"sessions": [*map(session, range(50, 53))], "total": 53, "next": None},
    ]
    api.answers = {
        "GET /memory/projects": [(200, {"projects": [project], "total": 1, "next": None})],
        "GET /memory/projects/t1/sessions": [(200, page) for page in pages],
        "GET /memory/settings": [(200, {"ui": {"defaultView": "timeline", "showTokenEstimates": True}})],
    }
    async with opened(browser, origin, api, "#/sessions?link=once") as here:
        while await here.page.locator(".tail").count():
            await here.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(here.page.locator(".row-title").last).to_have_text("Talk 99")
        await expect(here.page.locator("h2.group").last).to_have_text("Linked from other projects")
        await here.page.locator(".row-more").last.click()
        await expect(here.page.get_by_role("menuitem", name="View original")).to_be_visible()
        await expect(here.page.get_by_role("menuitem", name="library")).to_have_count(0)


async def test_an_event_reloads_the_list(browser: Browser, origin: str, api: PlayedApi) -> None:
    api.events = 'event: memory\ndata: {"at": "2026-05-01T10:00:00Z"}\n\n'
    async with opened(browser, origin, api) as here:
        api.memories = [memory(99, "Learned in the chat"), *api.memories]
        await expect(here.page.locator(".row-title").first).to_have_text("Learned in the chat")
        assert api.called("GET /events")[0]["authorization"] == "Bearer secret"


@pytest.mark.slow("test_an_event_reloads_the_list")
async def test_a_page_whose_stream_a_newer_one_replaced_follows_again_when_it_is_shown(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    api.events = 'event: replaced\ndata: {"at": "2026-05-01T10:00:00Z"}\n\n'
    async with opened(browser, origin, api) as here:
        await asyncio.sleep(2.5)
        assert len(api.called("GET /events")) == 1
        await look_again(here.page)
        await asyncio.sleep(1)
        assert len(api.called("GET /events")) == 2
