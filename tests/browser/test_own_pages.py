"""The pages of memory, preferences, reminders, usage and why: actions in a browser, checked in the API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FloatRect, Locator, Page, Route, expect

from tests.acceptance.harness import OWNER
from tests.browser.site import Site, open_site
from tests.browser.visit import DESKTOP, PHONE, Visit, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    async with open_site() as site:
        site.shared_relay.tg.dm(site.shared_relay.tg.user(OWNER, "Ada"))
        yield site
        assert site.shared_relay.tracebacks() == []


@pytest.fixture(
    params=[
        pytest.param(PHONE, id="phone"),
        pytest.param(DESKTOP, id="desktop", marks=pytest.mark.slow("the same on a phone")),
    ]
)
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


LINES = """(one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return range.getClientRects().length;
}"""
"""Counts the lines of an element's text."""


def row(here: Visit, words: str) -> Locator:
    return here.page.get_by_role("listitem").filter(has_text=words)


async def choose(here: Visit, words: str, action: str) -> None:
    """Opens the menu of a row and chooses one of its actions."""
    await row(here, words).get_by_label("Actions").click()
    await here.page.get_by_role("menuitem", name=action, exact=True).click()


async def press(page: Page, name: str) -> None:
    await page.get_by_role("button", name=name, exact=True).first.click()


async def teach(site: Site, user_id: int, *facts: str) -> None:
    async with site.call(user_id) as api:
        for text in facts:
            assert (await api.post("/memories", json={"text": text})).status_code == 201


COPY = """
with copy as (
  insert into relay.memory (space_id, kind, subject_id, subject, content, category, tags, importance, confidence,
    thread_id, session_id, turn_id, source_message_id, derivation)
  select m.space_id, m.kind, m.subject_id, m.subject, 'Owns book ' || n, m.category, m.tags, m.importance, m.confidence,
    m.thread_id, m.session_id, m.turn_id, m.source_message_id, m.derivation
  from relay.memory m, generate_series(1, %s) n where m.subject_id = %s
  returning id
), change as (
  insert into relay.memory_change (space_id, memory_id, turn_id, user_id, action)
  select c.space_id, copy.id, c.turn_id, c.user_id, c.action
  from copy, relay.memory_change c where c.memory_id in (select id from relay.memory where subject_id = %s)
  returning 1
) select count(*) from change
"""


async def teach_books(site: Site, user_id: int, count: int) -> None:
    """Teaches a person's first fact and stores copies of it."""
    await teach(site, user_id, "Owns book 0")
    assert site.shared_relay.sql(COPY, count - 1, user_id, user_id) == [(count - 1,)]


async def test_a_memory_can_be_added_reworded_pinned_and_restored(
    browser: Browser, site: Site, size: tuple[int, int]
) -> None:
    async with site.open(browser, site.shared_relay.guest().id, size=size) as here:
        await here.go("/memory")
        await expect(here.page.get_by_text("I know nothing about you yet")).to_be_visible()
        await press(here.page, "Remember")
        await here.page.get_by_label("In your own words").fill("Sails a boat")
        await here.page.get_by_role("dialog").get_by_role("button", name="Remember").click()
        await choose(here, "Sails a boat", "Edit")
        await here.page.get_by_label("Memory", exact=True).fill("Sails a dinghy")
        await press(here.page, "Save")
        await choose(here, "Sails a dinghy", "Pin")
        await expect(row(here, "Sails a dinghy")).to_contain_text("pinned")
        await row(here, "Sails a dinghy").get_by_role("link").click()
        await choose(here, "Before: Sails a boat", "Restore the earlier wording")
        await expect(here.page.locator(".words")).to_have_text("Sails a boat")
        assert here.trouble == []


def middle(box: FloatRect | None) -> float:
    """Returns the height of an element's middle."""
    assert box is not None
    return box["y"] + box["height"] / 2


async def test_several_memories_can_be_forgotten_and_restored_later(
    browser: Browser, site: Site, size: tuple[int, int]
) -> None:
    guest = site.shared_relay.guest().id
    await teach(site, guest, "Likes tea", "Likes coffee", "Has a boat")
    async with site.open(browser, guest, size=size) as here:
        await here.go("/memory")
        await press(here.page, "Select")
        await here.page.get_by_label("Select: Likes tea").check()
        await here.page.get_by_label("Select: Likes coffee").check()
        assert await here.find_violations() == []
        await press(here.page, "Forget")
        await expect(here.page.get_by_text("2 memories forgotten.")).to_be_visible()
        buttons = [await here.page.get_by_role("button", name=name).bounding_box() for name in ("Undo", "Dismiss")]
        assert abs(middle(buttons[0]) - middle(buttons[1])) < 4, "both buttons must be on one line"
        await expect(row(here, "Likes")).to_have_count(0)
        await here.go("/reminders")
        await here.go("/memory")
        await press(here.page, "Undo")
        await expect(row(here, "Likes")).to_have_count(2)
        assert here.trouble == []


@pytest.mark.slow("test_several_memories_can_be_forgotten_and_restored_later and test_forget_many.py")
async def test_forgetting_more_memories_than_one_request_holds_is_undone_in_full(browser: Browser, site: Site) -> None:
    guest = site.shared_relay.guest().id
    await teach_books(site, guest, 103)
    async with site.open(browser, guest) as here:
        page = here.page
        await here.go("/memory")
        await press(page, "Select")
        while await page.get_by_text("103 selected").count() == 0:
            await page.evaluate("document.querySelectorAll('.row-check:not(:checked)').forEach((one) => one.click())")
            await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await press(page, "Forget")
        await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
        await expect(page.get_by_text("103 memories forgotten.")).to_be_visible()
        await press(page, "Undo")
        await expect(page.get_by_text("I remember it again.")).to_be_visible()
        await expect(page.get_by_role("button", name="All103")).to_be_visible()
        assert here.trouble == []


@pytest.mark.slow("the other tests of the memory page, and of its requests")
async def test_back_closes_an_open_dialog_and_none_outlives_its_page(browser: Browser, site: Site) -> None:
    guest = site.shared_relay.guest().id
    await teach(site, guest, "Likes tea")
    async with site.open(browser, guest, size=PHONE) as here:
        page = here.page
        await here.go("/memory")
        await row(here, "Likes tea").get_by_role("link").click()
        await press(page, "Edit")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.evaluate("Telegram.WebView.receiveEvent('back_button_pressed', null)")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator(".words")).to_have_text("Likes tea")
        await press(page, "Edit")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Memory")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert here.trouble == []


async def test_selecting_text_past_the_edge_of_a_dialog_closes_nothing_and_an_erased_memory_is_not_shown(
    browser: Browser, site: Site
) -> None:
    guest = site.shared_relay.guest().id
    await teach(site, guest, "Likes tea")
    gone = {"detail": "That memory is gone.", "code": "unknown"}
    async with site.open(browser, guest) as here:
        page = here.page
        await here.go("/memory")
        await row(here, "Likes tea").get_by_role("link").click()
        await press(page, "Edit")
        field = page.get_by_role("textbox", name="Memory")
        await field.fill("Likes green tea")
        box = await field.bounding_box()
        assert box
        await page.mouse.move(box["x"] + 80, box["y"] + 10)
        await page.mouse.down()
        await page.mouse.move(5, box["y"] + 10, steps=5)
        await page.mouse.up()
        await expect(field).to_have_value("Likes green tea")
        await page.mouse.click(5, 5)
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator(".words")).to_have_text("Likes tea")
        await page.route("**/api/memories/*", lambda route: route.fulfill(status=404, json=gone))
        await teach(site, guest, "Likes cake")
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        await expect(page.get_by_text("Likes tea")).to_have_count(0)


async def test_a_memory_that_waits_is_kept_or_discarded_on_its_card(browser: Browser, site: Site) -> None:
    shared_relay, chat = site.shared_relay, site.shared_relay.guest()
    with shared_relay.database() as connection:
        connection.execute("insert into relay.choice values (%s, %s)", (chat.id, '{"learning": "ask"}'))
    shared_relay.model.rule("my pony", "Nice. [LEARN: Has a pony] [LEARN: Rides on Sundays]")
    await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, "my pony"))
    async with site.open(browser, chat.id, size=PHONE) as here:
        for words, action, now in (
            ("Has a pony", "Keep", "confirmed"),
            ("Rides on Sundays", "Discard", "I'm not using it."),
        ):
            await here.go("/memory?state=waiting")
            await expect(here.page.get_by_role("button", name="Waiting")).to_be_in_viewport(ratio=1)
            await row(here, words).get_by_role("link").click()
            await expect(here.page.get_by_text("This waits for you.")).to_be_visible()
            await press(here.page, action)
            await expect(here.page.get_by_text("This waits for you.")).to_have_count(0)
            await expect(here.page.get_by_role("button", name="Keep")).to_have_count(0)
            await expect(here.page.get_by_text(now).first).to_be_visible()
        assert here.trouble == []


@pytest.mark.slow("the other tests of the memory page, and of its requests")
async def test_keep_all_keeps_also_what_is_not_shown_yet(browser: Browser, site: Site) -> None:
    guest = site.shared_relay.guest().id
    await teach_books(site, guest, 53)
    for table, column in (("memory", "id"), ("memory_change", "memory_id")):
        site.shared_relay.sql(
            f"update relay.{table} set status = 'pending' where {column} in"  # noqa: S608 — our own names
            " (select id from relay.memory where subject_id = %s)",
            guest,
        )
    async with site.open(browser, guest) as here:
        await here.go("/memory?state=waiting")
        await press(here.page, "Keep all")
        await expect(here.page.get_by_text("Kept: 53.")).to_be_visible()
        await expect(here.page.get_by_text("Nothing is waiting")).to_be_visible()
        assert here.trouble == []


async def test_undo_in_a_toast_reloads_the_list_that_is_shown_by_then(browser: Browser, site: Site) -> None:
    guest = site.shared_relay.guest().id
    await teach(site, guest, "Likes tea")
    async with site.open(browser, guest) as here:
        asked: list[str] = []
        here.page.on("request", lambda request: asked.append(request.url))
        await here.go("/memory")
        await press(here.page, "Remember")
        await here.page.get_by_label("In your own words").fill("Sails a boat")
        await here.page.get_by_role("dialog").get_by_role("button", name="Remember").click()
        await expect(row(here, "Sails a boat")).to_have_count(1)
        everything = {url for url in asked if "/api/memories?" in url}
        await here.go("/memory?state=pinned")
        await expect(here.page.get_by_text("No memory matches this filter.")).to_be_visible()
        asked.clear()
        await here.page.locator(".toast").get_by_role("button", name="Undo").click()
        await expect(here.page.get_by_role("button", name="All1")).to_be_visible()
        assert everything
        assert not everything.intersection(asked)
        assert here.trouble == []


@pytest.mark.slow("the other tests of the memory page, and of its requests")
async def test_two_memories_can_be_merged(browser: Browser, site: Site) -> None:
    guest = site.shared_relay.guest().id
    await teach(site, guest, "Likes tea", "Drinks much tea")
    async with site.open(browser, guest) as here:
        await here.go("/memory")
        await press(here.page, "Select")
        for words in ("Likes tea", "Drinks much tea"):
            await here.page.get_by_label(f"Select: {words}").check()
        await press(here.page, "Merge two")
        await here.page.get_by_label("What I remember from now on").fill("Loves tea")
        await press(here.page, "Merge")
        await expect(here.page.locator(".words")).to_have_text("Loves tea")
        await here.go("/memory")
        await press(here.page, "Undo")
        await expect(row(here, "tea")).to_have_count(2)
        assert here.trouble == []


async def test_filters_and_search_are_in_the_address_and_work_with_keys(browser: Browser, site: Site) -> None:
    guest = site.shared_relay.guest().id
    await teach(site, guest, "Likes tea", "Has a boat")
    async with site.open(browser, guest) as here:
        await here.go("/memory")
        await here.page.keyboard.press("/")
        await here.page.keyboard.type("boat")
        await expect(row(here, "Likes tea")).to_have_count(0)
        assert here.page.url.endswith("#/memory?q=boat")
        await here.page.reload()
        await here.settle()
        await expect(row(here, "Has a boat")).to_have_count(1)
        await expect(here.page.get_by_label("Search memories")).to_have_value("boat")
        await here.go("/memory?state=unconfirmed")
        await expect(here.page.get_by_text("No memory matches this filter.")).to_be_visible()
        await here.go("/memory?state=changes")
        await row(here, "Likes tea").get_by_role("button", name="Undo").click()
        await expect(row(here, "Likes tea")).to_contain_text("undone")
        await here.page.keyboard.press("g")
        await here.page.keyboard.press("r")
        await expect(here.page.get_by_role("heading", level=1, name="Reminders")).to_be_visible()
        assert here.trouble == []


async def test_signing_out_of_a_browser_ends_the_session(browser: Browser, site: Site) -> None:
    async with site.call() as api:
        token = api.headers["Authorization"].removeprefix("Bearer ")
        keep = f"if (location.protocol === 'http:') sessionStorage.setItem('relay.token', '{token}')"
        async with visit(browser, site.origin, script=keep) as here:
            await here.page.goto(f"{site.origin}/#/settings")
            await here.settle()  # the browser logs each request under way that the ended session refuses
            await here.page.get_by_role("button", name="Sign out").click()
            await expect(here.page.get_by_role("main")).to_contain_text("Open this page again")
            assert await here.page.evaluate("sessionStorage.length") == 0
            assert here.trouble == []
        assert (await api.get("/me")).status_code == 401


@pytest.mark.slow("the other tests of the memory page, and of its requests")
async def test_a_group_is_named_wherever_its_memory_is_shown(browser: Browser, site: Site) -> None:
    shared_relay = site.shared_relay
    member = shared_relay.tg.user(shared_relay.guest().id)
    room = shared_relay.tg.group(-1000000009003, "Room", [member, shared_relay.tg.user(OWNER)], False)
    shared_relay.model.rule("we read", "Noted. [LEARN: The club reads Middlemarch]")
    asked = await shared_relay.tg.say(room, member, "@relay_test_bot we read Middlemarch")
    await shared_relay.tg.wait_reply(room, asked)
    async with site.open(browser, member.id) as here:
        page = here.page
        await here.go("/settings")
        chosen = page.get_by_label("Memory", exact=True)
        await expect(chosen.locator("option:checked")).to_have_text("Your own memory")
        await chosen.select_option("Group: Room")
        await page.get_by_role("radio", name="Gentle").click()
        await expect(page.get_by_text("That's for my admins.")).to_be_visible()
        await expect(page.get_by_role("radio", name="Standard")).to_be_checked()
        await here.go("/sessions")
        await expect(page.get_by_label("Project").locator("option:checked")).to_contain_text("Room")
        await here.go("/memory")
        await page.get_by_label("Whose memory").select_option("Room")
        await row(here, "Middlemarch").get_by_role("link").click()
        await expect(page.get_by_text("In the group “Room”.")).to_be_visible()


@pytest.mark.slow("test_api_apart.py")
async def test_a_groups_list_offers_only_what_the_person_may_do(browser: Browser, site: Site) -> None:
    shared_relay = site.shared_relay
    mine, others = (shared_relay.tg.user(shared_relay.guest().id) for _ in range(2))
    room = shared_relay.tg.group(-1000000009004, "Club", [mine, others], False)
    said = ((mine, "Plays the oboe"), (others, "Plays the tuba"), (others, "Sings bass"), (others, "Sings alto"))
    for user, fact in said:
        shared_relay.model.rule(fact, f"Noted. [LEARN: {fact}]")
        asked = await shared_relay.tg.say(room, user, f"@relay_test_bot {fact}")
        await shared_relay.tg.wait_reply(room, asked)
    async with site.call(others.id) as api:
        space = (await api.get("/me/groups")).json()["groups"][0]["spaceId"]
        changes = (await api.get(f"/memories/changes?state=pending&space={space}")).json()["changes"]
        tuba = next(one["id"] for one in changes if one["content"] == "Plays the tuba")
        assert (await api.post(f"/changes/{tuba}/keep")).status_code == 200
    async with site.open(browser, mine.id) as here:
        page = here.page
        await here.go("/memory")
        await page.get_by_label("Whose memory").select_option("Club")
        await row(here, "oboe").get_by_label("Actions").click()
        await expect(page.get_by_role("menuitem")).to_have_text(["Edit", "Pin", "Confirm", "Forget"])
        await page.keyboard.press("Escape")
        await expect(row(here, "tuba")).to_have_count(1)
        await expect(row(here, "tuba").get_by_label("Actions")).to_have_count(0)
        await press(page, "Select")
        await expect(row(here, "oboe").get_by_role("checkbox")).to_have_count(1)
        await expect(row(here, "tuba").get_by_role("checkbox")).to_have_count(0)
        await page.get_by_role("button", name="Waiting").click()
        await expect(row(here, "Sings")).to_have_count(2)
        await expect(page.get_by_role("button", name="Keep all")).to_have_count(0)
        await here.go("/sessions")
        await expect(page.get_by_label("Project").locator("option:checked")).to_contain_text("Club")
        await expect(page.get_by_role("button", name="Compose")).to_have_count(0)
        await row(here, "oboe").get_by_label("Actions").click()
        await expect(page.get_by_role("menuitem")).to_have_text(["Markers", "View original"])
        await page.keyboard.press("Escape")
        await row(here, "oboe").get_by_role("link").click()
        await expect(page.get_by_role("button", name="Original")).to_be_visible()
        await expect(page.get_by_role("button", name="Compress")).to_have_count(0)
        await here.go("/compose")
        await expect(page.get_by_text("Only admins can compose in this group.")).to_be_visible()
        asked = await shared_relay.tg.say(shared_relay.tg.dm(mine), mine, "Hello")
        await shared_relay.tg.wait_reply(shared_relay.tg.dm(mine), asked)
        asked = await shared_relay.tg.say(room, mine, "@relay_test_bot hello")
        await shared_relay.tg.wait_reply(room, asked)
        await here.go("/memory")
        await here.go("/compose")
        await expect(page.get_by_label("Project").locator("option:checked")).to_contain_text("Private chat")
        assert here.trouble == []


async def test_a_preference_can_be_added_opened_and_forgotten(
    browser: Browser, site: Site, size: tuple[int, int]
) -> None:
    async with site.open(browser, site.shared_relay.guest().id, size=size) as here:
        await here.go("/preferences")
        await here.page.get_by_role("radio", name="Avoid").check()
        await here.page.get_by_label("In a few words").fill("Long poems")
        await press(here.page, "Add")
        await expect(here.page.get_by_text("From now on: no long poems.")).to_be_visible()
        await row(here, "long poems").get_by_role("link").click()
        await expect(row(here, "You said so")).to_contain_text("against")
        await press(here.page, "Forget")
        await expect(here.page.get_by_text("I don't know yet how you like answers")).to_be_visible()
        await press(here.page, "Undo")
        await expect(row(here, "long poems")).to_have_count(1)
        await here.page.get_by_label("Follow and learn preferences").click()
        await expect(here.page.get_by_text("This is off")).to_be_visible()
        assert here.trouble == []


async def test_a_reminder_can_be_made_paused_deleted_and_read_as_a_calendar(
    browser: Browser, site: Site, size: tuple[int, int]
) -> None:
    async with site.open(browser, site.shared_relay.guest().id, size=size) as here:
        await here.go("/reminders")
        await here.page.get_by_label("Remind me").fill("sometime the dentist")
        await press(here.page, "Add")
        await expect(here.page.locator(".field.wrong")).to_be_visible()
        await here.page.get_by_label("Remind me").fill("every monday 8:00 bins")
        await here.page.keyboard.press("Enter")
        await expect(row(here, "bins")).to_contain_text("every Monday")
        await expect(row(here, "bins").locator(".row-meta > span:empty")).to_have_count(0)
        undo = here.page.locator(".toast", has_text="bins").get_by_role("button", name="Undo")
        assert await undo.evaluate(LINES) == 1
        await choose(here, "bins", "Pause")
        await expect(row(here, "bins")).to_contain_text("paused")
        await choose(here, "bins", "Delete")
        await expect(row(here, "bins")).to_have_count(0)
        await here.page.locator(".toast", has_text="Deleted").get_by_role("button", name="Undo").click()
        await expect(row(here, "bins")).to_contain_text("paused")
        await choose(here, "bins", "Resume")
        await expect(row(here, "bins")).not_to_contain_text("paused")
        await press(here.page, "Make an address")
        address = await here.page.get_by_label("Address, shown once").input_value()
        await here.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        await press(here.page, "Copy")
        await here.page.get_by_label("Remind me").focus()
        await here.page.keyboard.press("Control+V")
        await expect(here.page.get_by_label("Remind me")).to_have_value(address)
        read = await here.page.request.get(address)
        assert "SUMMARY:bins" in await read.text()
        assert [one for one in here.trouble if "422" not in one] == []


@pytest.mark.slow("test_a_reminder_can_be_made_paused_deleted_and_read_as_a_calendar")
async def test_a_reminder_that_cannot_be_made_says_why(browser: Browser, site: Site) -> None:
    problem = {"detail": "The database is away.", "code": "away"}
    async with site.open(browser, site.shared_relay.guest().id) as here:
        await here.go("/reminders")
        await here.page.route("**/api/reminders", lambda route: route.fulfill(status=500, json=problem))
        await here.page.get_by_label("Remind me").fill("tomorrow 9:00 bins")
        await here.page.keyboard.press("Enter")
        await expect(here.page.get_by_text("The database is away.")).to_be_visible()
        await expect(here.page.get_by_label("Remind me")).to_have_value("tomorrow 9:00 bins")


async def test_what_is_typed_while_a_reminder_is_made_stays(browser: Browser, site: Site) -> None:
    async def delay(route: Route) -> None:
        await asyncio.sleep(1 if route.request.method == "POST" else 0)
        await route.continue_()

    async with site.open(browser, site.shared_relay.guest().id) as here:
        await here.go("/reminders")
        await here.page.route("**/api/reminders", delay)
        field = here.page.get_by_label("Remind me")
        await field.fill("in 1 day at 9:00 bins")
        await here.page.keyboard.press("Enter")
        await field.fill("tomorrow 10:00 bread")
        await expect(row(here, "bins")).to_be_visible()
        await expect(field).to_have_value("tomorrow 10:00 bread")
        assert here.trouble == []


async def test_an_answer_is_explained_and_its_cost_is_counted(browser: Browser, site: Site) -> None:
    shared_relay, chat = site.shared_relay, site.shared_relay.guest()
    await teach(site, chat.id, "Likes oolong tea")
    await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, "What do I drink?"))
    async with site.open(browser, chat.id) as here:
        await here.go("/why")
        await expect(here.page.get_by_text("Memories used (1)")).to_be_visible()
        await choose(here, "Likes oolong tea", "Forget")
        await expect(row(here, "Likes oolong tea")).to_contain_text("forgotten since")
        await here.go("/usage?days=7")
        await expect(here.page.locator(".column").first).to_be_visible()
        await expect(here.page.get_by_role("row", name="Answers")).to_be_visible()
        assert here.trouble == []
