"""Sessions in the app with a real Relay: compress, prune, mark, compose, and change settings."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from tests.acceptance.harness import OWNER
from tests.browser.believable import fill
from tests.browser.site import Site, open_site
from tests.browser.visit import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    """A Relay that Ada has used for some weeks."""
    async with open_site() as site:
        shared_relay = site.shared_relay
        ada = shared_relay.tg.user(OWNER, "Ada")
        await fill(shared_relay, shared_relay.tg.dm(ada), ada)
        yield site
        assert shared_relay.tracebacks() == []


def session(site: Site, title: str) -> str:
    """Returns the address of a conversation."""
    [(id,)] = site.shared_relay.sql("select id from relay.session where title = %s", title)
    return f"/sessions/{id}"


async def test_a_version_matches_its_preview_and_pruning_can_be_undone(browser: Browser, site: Site) -> None:
    path = session(site, "The letter to the landlord")
    async with site.open(browser) as here:
        page = here.page
        await here.go(path)
        await page.keyboard.press("c")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Compress")
        await page.get_by_role("radio", name="None, free").check()
        await page.get_by_role("radio", name="Uniform").check()
        await expect(page.get_by_text("Will keep 1 (weight ≥ 0.")).to_be_visible()
        await expect(page.get_by_text("free", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Make it").click()
        await expect(page.get_by_text("v001 is ready.")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Memory")
        await page.go_forward()
        version = page.locator(".row", has_text="v001_uniform-moderate")
        await version.get_by_role("checkbox").check()
        await expect(page.get_by_text("1 version selected")).to_be_visible()
        await page.get_by_role("button", name="Prune").click()
        await page.get_by_role("dialog").get_by_role("button", name="Prune").click()
        await expect(version).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(version).to_have_count(1)
        await version.get_by_role("link").click()
        await expect(page.locator("blockquote", has_text="Friday 27 March, 17:00")).to_be_visible()
        async with page.expect_download() as file:
            await page.get_by_role("button", name="Markdown").click()
        assert (await file.value).suggested_filename.startswith("v001_uniform-moderate")
        assert here.trouble == []


@pytest.mark.slow("test_a_slider_that_moves_asks_seldom and the other changes on these pages")
async def test_ten_tiers_can_be_added_by_their_button_alone(browser: Browser, site: Site) -> None:
    async with site.open(browser, size=PHONE) as here:
        page = here.page
        await here.go(f"{session(site, 'The letter to the landlord')}/compress")
        await page.get_by_label("Preset").select_option("custom")
        for _ in range(7):
            await page.get_by_role("button", name="Add a tier").click()
        await expect(page.get_by_role("button", name="Add a tier")).to_be_disabled()
        ends = [await box.input_value() for box in await page.get_by_label("to %").all()]
        assert len(ends) == 10
        assert sorted({int(end) for end in ends}) == [int(end) for end in ends]
        assert here.trouble == []


@pytest.mark.slow("test_a_passage_can_be_marked_in_the_original_and_unmarked")
async def test_changing_the_weight_of_a_marker_changes_its_shown_fate(browser: Browser, site: Site) -> None:
    path = session(site, "The letter to the landlord")
    async with site.open(browser, size=PHONE) as here:
        page = here.page
        await here.go(f"{path}/markers")
        await page.get_by_role("link", name="Friday 27 March, 17:00").click()
        await expect(page.locator("mark")).to_have_text("Friday 27 March, 17:00")
        await expect(page.locator("blockquote")).to_have_text("Good. Keep the deadline: Friday 27 March, 17:00")
        slider = page.get_by_role("slider", name="Weight")
        await slider.focus()
        for _ in range(10):
            await page.keyboard.press("ArrowLeft")
        fates = page.get_by_role("table").get_by_role("row")
        shown = ("1, at 30:1 0.53 SURVIVES", "5, at 30:1 0.65 SURVIVES", "10, at 30:1 0.80 BARELY SURVIVES",
                 "10, at 50:1 1.00 SUMMARISED")  # fmt: skip
        for number, words in enumerate(shown, 1):
            await expect(fates.nth(number)).to_have_accessible_name(words)
        await page.get_by_role("button", name="Pinned").click()
        await expect(page.get_by_text("SURVIVES", exact=True)).to_have_count(4)
        await page.get_by_role("button", name="Notable").click()
        await expect(page.get_by_text("SUMMARISED")).to_have_count(4)
        await page.get_by_role("button", name="Save the weight").click()
        await expect(page.get_by_role("heading", name="0.50 notable")).to_be_visible()
        await here.go(path)
        await page.get_by_role("link", name="Friday 27 March").press("Enter")  # a toast may cover it
        await page.get_by_role("button", name="Critical").click()
        await page.get_by_role("button", name="Save the weight").click()
        await expect(page.get_by_role("heading", name="0.90 critical")).to_be_visible()
        assert here.trouble == []


async def test_a_passage_can_be_marked_in_the_original_and_unmarked(browser: Browser, site: Site) -> None:
    path = session(site, "Azores in June")
    async with site.open(browser) as here:
        page = here.page
        await here.go(f"{path}/original")
        said = page.locator("article.said", has_text="few long drives.").first
        await said.get_by_role("button", name="Mark a passage").click()
        await page.get_by_role("textbox", name="The passage").fill("never said")
        await expect(page.get_by_text("The message doesn't say that.")).to_be_visible()
        await expect(page.get_by_role("button", name="Mark it")).to_be_disabled()
        await page.get_by_role("textbox", name="The passage").fill("No walnuts")
        await expect(page.locator("mark")).to_have_text("No walnuts")
        await page.get_by_role("button", name="Mark it").click()
        await expect(page.get_by_text("Marked with 0.75.")).to_be_visible()
        await page.get_by_role("link", name="No walnuts").click()
        await page.get_by_role("button", name="Remove").click()
        await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        await expect(page.get_by_text("No markers")).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Marker")
        await page.get_by_role("button", name="Remove").click()
        await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        await expect(page.get_by_text("No markers")).to_be_visible()
        await here.go("/settings")
        async with page.expect_response("**/keepits"):
            await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
        await here.go(f"{path}/original")
        await expect(page.locator("mark")).to_have_text("No walnuts")
        assert here.trouble == []


@pytest.mark.slow("test_a_passage_can_be_marked_in_the_original_and_unmarked")
async def test_the_place_of_a_marker_is_marked_not_an_equal_word_before_it(browser: Browser, site: Site) -> None:
    shared_relay = site.shared_relay
    ada = shared_relay.tg.user(OWNER, "Ada")
    chat = shared_relay.tg.dm(ada)
    text = "🎻 tea or ##keepit0.80##tea##/keepit##?"
    await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, ada, text))
    [(number,)] = shared_relay.sql("select session_id from relay.keepit where content = 'tea'")
    async with site.open(browser) as here:
        await here.go(f"/sessions/{number}/original")
        said = here.page.locator(".words", has_text="tea or tea?").first
        await expect(said.locator("mark")).to_have_text("tea")
        assert await said.evaluate("said => said.querySelector('mark').previousSibling.data") == "🎻 tea or "


async def test_sessions_are_composed_in_the_order_set_by_keys_and_mouse(browser: Browser, site: Site) -> None:
    async with site.open(browser) as here:
        page = here.page
        await here.go("/compose")
        await page.get_by_role("button", name="Add session").click()
        dialog = page.get_by_role("dialog")
        for title in ("The balcony garden", "The letter to the landlord", "Azores in June"):
            await dialog.get_by_role("button", name=title).click()
        await dialog.get_by_role("button", name="Done").click()
        titles = page.locator(".part-title strong")
        await expect(titles).to_have_text(["The balcony garden", "The letter to the landlord", "Azores in June"])
        await page.get_by_role("button", name="Move The balcony garden").focus()
        await page.keyboard.press("ArrowDown")
        await expect(titles).to_have_text(["The letter to the landlord", "The balcony garden", "Azores in June"])
        await page.keyboard.press("ArrowDown")
        await expect(titles).to_have_text(["The letter to the landlord", "Azores in June", "The balcony garden"])
        handle = page.get_by_role("button", name="Move The balcony garden")
        target = await page.get_by_role("button", name="Move The letter").bounding_box()
        assert target
        await handle.hover()
        await page.mouse.down()
        await page.mouse.move(target["x"] + 5, target["y"] - 20, steps=8)
        await page.mouse.up()
        await expect(titles).to_have_text(["The balcony garden", "The letter to the landlord", "Azores in June"])
        await handle.hover()
        await page.mouse.down()
        box = await handle.bounding_box()
        assert box
        await page.mouse.move(box["x"] + 90, box["y"] + 150, steps=8)  # hands don't move in straight lines
        await page.mouse.up()
        moved = await titles.all_text_contents()
        assert moved[0] != "The balcony garden"
        for number in (0, 2, 0, 1):
            await page.locator(".drag").nth(number).hover()
        await expect(titles).to_have_text(moved)
        await expect(page.locator(".dragged")).to_have_count(0)
        while await titles.first.text_content() != "The balcony garden":
            await handle.press("ArrowUp")
        await expect(titles).to_have_text(["The balcony garden", "The letter to the landlord", "Azores in June"])
        await expect(page.get_by_label("Tokens").first).to_have_css("appearance", "textfield")
        await page.get_by_label("Version").nth(0).select_option("original")
        await page.get_by_role("button", name="Leave out Azores in June").click()
        await expect(page.get_by_role("meter", name="tokens")).to_be_visible()
        await page.get_by_label("Name").fill("Home")
        await page.get_by_role("link", name="Settings").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
        await page.go_back()
        await expect(titles).to_have_text(["The balcony garden", "The letter to the landlord"])
        await expect(page.get_by_label("Name")).to_have_value("Home")
        await page.get_by_role("button", name="Compose", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Home")
        await page.get_by_role("link", name="Compose").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Compose")
        await expect(titles).to_have_count(0)
        await page.go_back()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Home")
        async with page.expect_download() as file:
            await page.get_by_role("button", name="Export Markdown").click()
        text = Path(await (await file.value).path()).read_text("utf-8")  # noqa: ASYNC240 — a small file
        assert text.index("fruits in half shade") < text.index("Courts granted")
        await page.get_by_role("button", name="Begin with it").click()
        await page.get_by_role("dialog").get_by_role("button", name="Begin").click()
        await expect(page.get_by_text("The next conversation begins with it.")).to_be_visible()
        assert site.shared_relay.sql("select count(*) from relay.composition_use") == [(1,)]
        await page.get_by_role("button", name="Actions").click()
        await page.get_by_role("menuitem", name="Drop").click()
        await page.get_by_role("button", name="Drop", exact=True).click()
        await page.get_by_role("button", name="Do it anyway").click()
        await expect(page.get_by_text("Dropped “Home”.")).to_be_visible()
        assert [one for one in here.trouble if "409" not in one] == []


async def test_a_session_without_a_title_is_called_the_same_in_lists_previews_and_compositions(
    browser: Browser, site: Site
) -> None:
    async def untitle(route: Route) -> None:
        response = await route.fetch()
        body = re.sub(r'"title": ?"Azores in June"', '"title": null', await response.text())
        await route.fulfill(response=response, body=body)

    async with site.open(browser) as here:
        page = here.page
        await page.route(re.compile("/api/memory/(projects/.*/)?(sessions|compositions)"), untitle)
        await here.go("/compose")
        await page.get_by_role("button", name="Add session").click()
        await page.get_by_role("dialog").get_by_role("button", name="Plan two weeks on the Azores").click()
        await page.get_by_role("button", name="Done").click()
        await page.get_by_role("button", name="Preview").click()
        await expect(page.get_by_role("dialog").locator("strong")).to_contain_text("1. Plan two weeks on the Azores")
        await page.get_by_role("button", name="Close").last.click()
        await page.get_by_label("Name").fill("Islands")
        await page.get_by_role("button", name="Compose", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Islands")
        await expect(page.locator(".part-title strong")).to_contain_text(["Plan two weeks on the Azores"])
        await here.go(f"{session(site, 'Azores in June')}/compress")
        await expect(page.locator(".page-title p")).to_contain_text("Plan two weeks on the Azores")


@pytest.mark.slow("test_sessions_are_composed_in_the_order_set_by_keys_and_mouse")
async def test_a_composition_shows_when_its_versions_are_ready(browser: Browser, site: Site) -> None:
    making = True

    async def answer(route: Route) -> None:
        response = await route.fetch()
        shown = await response.json()
        if making:
            shown |= {"status": "making", "components": [one | {"status": "making"} for one in shown["components"]]}
        await route.fulfill(response=response, json=shown)

    number = session(site, "The balcony garden").rpartition("/")[2]
    async with site.call() as api:
        [project] = (await api.get("/memory/projects")).json()["projects"]

        async def compose(name: str) -> str:
            asked = {"name": name, "components": [{"sessionId": number}]}
            done = await api.post(f"/memory/projects/{project['projectId']}/compositions", json=asked)
            return str(done.json()["compositionId"])

        made = await compose("Garden")
        async with site.open(browser) as here:
            await here.page.route(f"**/api/memory/compositions/{made}", answer)
            await here.go(f"/compose/{made}")
            await expect(here.page.locator(".part").get_by_text("being made")).to_be_visible()
            making = False
            other = await compose("Another")  # pages hear of it
            await expect(here.page.locator(".part").get_by_text("being made")).to_have_count(0)
            await expect(here.page.get_by_role("button", name="Begin with it")).to_be_visible()
        for one in (made, other):
            await api.delete(f"/memory/compositions/{one}")


@pytest.mark.slow("test_a_slider_that_moves_asks_seldom and the other changes on these pages")
async def test_a_changed_setting_is_saved_and_applied(browser: Browser, site: Site) -> None:
    async with site.open(browser) as here:
        page = here.page
        await here.go("/sessions")
        await expect(page.locator("h2.group").first).to_be_visible()
        await here.go("/settings")
        await page.get_by_role("radio", name="List").check()
        await expect(page.get_by_text("Saved.")).to_be_visible()
        size = page.get_by_label("Storage limit for versions")
        await size.fill("plenty")
        await size.blur()
        await expect(page.locator(".field", has=size)).to_contain_text("The storage limit should be a size")
        await expect(page.locator(".toast", has_text="The storage limit")).to_have_count(0)
        await expect(size).to_have_value("1GB")
        await here.go("/sessions")
        await expect(page.locator(".row").first).to_be_visible()
        await expect(page.locator("h2.group")).to_have_count(0)
        await expect(page.get_by_text("Saved.")).to_have_count(0, timeout=20_000)
        await here.go("/settings")
        await page.get_by_role("radio", name="Timeline").check()
        await expect(page.get_by_text("Saved.")).to_be_visible()


@pytest.mark.slow("test_a_session_is_found_by_its_messages")
async def test_search_results_stay_when_more_of_them_are_fetched(browser: Browser, site: Site) -> None:
    async def shorten(route: Route) -> None:
        await route.continue_(url=re.sub(r"limit=\d+", "limit=2", route.request.url))

    async with site.call() as api:
        found = (await api.get("/memory/search", params={"text": "plan"})).json()["total"]
    assert found > 4
    async with site.open(browser) as here:
        await here.page.route("**/memory/search*", shorten)
        await here.go("/sessions?q=plan")
        while await here.page.locator(".tail").count():
            await here.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(here.page.locator(".row")).to_have_count(found)
        assert here.trouble == []


async def test_a_session_is_found_by_its_messages(browser: Browser, site: Site) -> None:
    async with site.open(browser, size=PHONE) as here:
        page = here.page
        await here.go("/sessions")
        await page.keyboard.press("/")
        await page.keyboard.type("strawberries")
        await expect(page.locator("mark", has_text="strawberries").first).to_be_visible()
        await page.locator(".row-main", has_text="Mia wants strawberries").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("The balcony garden")
        await expect(page.locator(".said").first).to_contain_text("Mia wants strawberries")
        await page.get_by_role("link", name="From the beginning").click()
        await expect(page.locator(".said").first).to_contain_text("What grows on a north-facing balcony")
        await here.go("/sessions")
        await page.get_by_role("button", name="Suggest").click()
        await page.get_by_label("What do you want to talk about?").fill("fuchsias and ivy on the balcony")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("The balcony garden")).to_be_checked()
        await page.get_by_role("button", name="Compose these").click()
        await expect(page.locator(".part-title strong")).to_have_text(["The balcony garden"])
        assert here.trouble == []
