"""The app's own pages over a mocked API: what no quick and willing server shows."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Browser, Route, expect

from tests.browser.kit import ME, PlayedApi, look_again, opened
from tests.browser.visit import DESKTOP, PHONE

pytestmark = pytest.mark.asyncio(loop_scope="module")
AT = "2026-05-01T10:00:00Z"
AWAY = (500, {"detail": "The disk is full.", "code": "fault"})
UNKNOWN = (404, {"detail": "Send /preferences.", "code": "unknown"})
DONE: tuple[int, dict[str, Any]] = (200, {})


@pytest.fixture
def api() -> PlayedApi:
    return PlayedApi(kit=False)


def known(number: int) -> dict[str, Any]:
    """Returns a memory with all that its card shows."""
    return {
        "id": str(number), "number": number, "content": f"Fact {number}", "kind": "fact", "status": "active",
        "tags": [], "category": "", "subject": "Ada", "importance": 5, "confidence": 1, "by": "user", "pinned": False,
        "uses": 0, "evidence": 0, "validatedAt": AT, "createdAt": AT, "updatedAt": AT, "last": {"id": f"l{number}"},
        "yours": True, "editable": True,
    }  # fmt: skip


def remember(api: PlayedApi, *numbers: int) -> None:
    """Lets the API know these memories."""
    rows = [known(number) for number in numbers]
    counts = dict.fromkeys(("pinned", "unconfirmed", "pending", "past", "learnings"), 0)
    kinds = {"fact": len(rows), "goal": 1}
    api.answers["GET /memories"] = [
        (200, {"memories": rows, "total": len(rows), "next": None, "facts": len(rows), "kinds": kinds, **counts})
    ]
    api.answers["GET /me/groups"] = [(200, {"groups": []})]
    api.answers["GET /memories/settings"] = [(200, {"memory": "on", "remembers": True, "pausedUntil": None})]
    for row in rows:
        path = f"/memories/{row['id']}"
        forgotten = {"changes": [{"id": f"c{row['id']}", "action": "forget"}]}
        api.answers |= {
            f"GET {path}": [(200, {"memory": row, "yours": True, "editable": True})],
            f"GET {path}/history": [(200, {"changes": [], "total": 0, "next": None})],
            f"GET {path}/source": [(200, {"source": {"at": AT}})],
            f"PATCH {path}": [(200, {"memory": row | {"pinned": True}, "changed": {"changes": []}})],
            f"DELETE {path}": [(200, {"memory": row | {"status": "forgotten"}, "changed": forgotten})],
        }


async def test_selected_rows_that_have_gone_are_not_counted_and_the_tools_stay_in_view(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    remember(api, *range(1, 31))
    api.answers["POST /memories/forget"] = [(200, {"changes": [{"id": "c3", "action": "forget"}]})]
    async with opened(browser, origin, api, ready=".row", size=PHONE) as here:
        page = here.page
        await page.get_by_role("button", name="Select", exact=True).click()
        for number in (1, 2):
            await page.get_by_label(f"Select: Fact {number}", exact=True).check()
        await page.get_by_role("button", name="Merge two").click()
        await expect(page.get_by_label("What I remember from now on")).to_have_value("Fact 1\nFact 2")
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        await page.get_by_label("Select: Fact 3", exact=True).check()
        remember(api, *range(3, 31))
        await look_again(page)
        await expect(page.get_by_text("1 selected")).to_be_visible()
        await expect(page.get_by_role("button", name="Merge two")).to_be_disabled()
        await page.evaluate("scrollTo(0, 900)")
        await expect(page.get_by_role("toolbar")).to_be_in_viewport(ratio=1)
        await expect(page.get_by_role("searchbox")).not_to_be_in_viewport()
        await page.get_by_role("button", name="Forget", exact=True).click()
        await expect(page.get_by_text("Forgotten. Undo works for ten minutes.")).to_be_in_viewport(ratio=1)
        assert [body for what, _, body in api.calls if what == "POST /memories/forget"] == [{"ids": ["3"]}]
        assert here.trouble == []


async def test_what_was_remembered_or_changed_is_undone_with_one_tap(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    remember(api, 1)
    made = {"memory": known(1), "changed": {"changes": [{"id": "c8", "status": "applied"}]}}
    api.answers |= {
        "POST /memories": [(201, made)], "PATCH /memories/1": [(200, made)], "POST /changes/c8/undo": [DONE]
    }  # fmt: skip
    async with opened(browser, origin, api, "#/memory?link=once", ready=".row") as here:
        page = here.page
        await page.get_by_role("button", name="Remember", exact=True).click()
        await page.get_by_label("In your own words").fill("Fact 1")
        await page.get_by_role("dialog").get_by_role("button", name="Remember", exact=True).click()
        for number, words in enumerate(("Remembered.", "Pinned:", "Pinned:"), 1):
            toast = page.locator(".toast", has_text=words)
            await toast.get_by_role("button", name="Undo").click()
            await expect(page.get_by_text("Undone.")).to_have_count(number)
            assert len(api.called("POST /changes/c8/undo")) == number
            if number == 1:
                await page.get_by_role("button", name="Actions").click()
                await page.get_by_role("menuitem", name="Pin", exact=True).click()
            elif number == 2:
                await here.go("/memory/1", ".words")
                await page.get_by_role("button", name="Pin", exact=True).click()
        assert here.trouble == []


@pytest.mark.parametrize("size", [(820, 1180), DESKTOP])
async def test_all_filters_can_be_seen_where_there_may_be_a_mouse(
    browser: Browser, origin: str, api: PlayedApi, size: tuple[int, int]
) -> None:
    remember(api, 1, 2)
    names = ("fact", "preference", "decision", "event", "person", "goal", "feeling")
    api.answers["GET /memories"][0][1].update(kinds=dict.fromkeys(names, 1234), learnings=1234, pinned=1234)
    async with opened(browser, origin, api, "#/memory?link=once", ready=".row", size=size) as here:
        chips = here.page.locator(".chip")
        await expect(chips).to_have_count(15)
        for at in range(15):
            await expect(chips.nth(at)).to_be_in_viewport(ratio=0.99)


async def test_reviewing_a_memory_takes_few_requests_and_all_that_is_forgotten_can_be_restored(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    remember(api, 1, 2, 3)
    api.answers["POST /changes/decide"] = [(200, {"decided": 2})]
    async with opened(browser, origin, api, ready=".row") as here:
        page = here.page
        await page.get_by_role("link", name="Fact 1").click()
        await here.settle(".words")
        began = len(api.calls)
        await page.get_by_role("button", name="Pin", exact=True).click()
        await expect(page.get_by_role("button", name="Unpin")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("link", name="Fact 1")).to_be_visible()
        reviewed = [what for what, _, _ in api.calls[began:]]
        assert reviewed[:2] == ["PATCH /memories/1", "GET /memories/1/history"]
        assert sorted(reviewed[2:]) == ["GET /memories", "GET /memories/settings"]
        for number, told in ((2, "Forgotten."), (3, "2 memories forgotten.")):
            await page.get_by_role("listitem").filter(has_text=f"Fact {number}").get_by_label("Actions").click()
            await page.get_by_role("menuitem", name="Forget").click()
            await expect(page.get_by_text(f"{told} Undo works for ten minutes.")).to_be_visible()
        await here.go("/memory/1", ".words")
        await expect(page.get_by_text("forgotten.")).to_have_count(0)
        api.answers["GET /memories/2"][0][1]["memory"]["last"]["id"] = "c2"
        await here.go("/memory/2", ".words")
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_text("I remember it again.")).to_be_visible()
        decided = [body for what, _, body in api.calls if what == "POST /changes/decide"]
        assert decided == [{"ids": ["c2", "c3"], "decision": "undo"}]
        await here.go("/memory?q=fact", ".row")
        await expect(page.get_by_role("button", name="All", exact=True)).to_be_visible()
        await expect(page.get_by_role("button", name="Facts", exact=True)).to_be_visible()


def reminder(number: int, text: str, status: str = "active") -> dict[str, Any]:
    return {
        "id": str(number), "text": text, "status": status, "nextAt": AT, "repeats": None, "kind": "say", "zone": "UTC",
        "createdAt": AT, "occurrence": None, "events": [],
    }  # fmt: skip


async def test_undo_is_sent_once_and_offered_again_if_it_fails_and_the_focus_is_not_lost(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    long = "water the tomatoes and the basil " * 28
    api.answers = {
        "GET /reminders": [(200, {"reminders": [reminder(1, long), reminder(2, "bins")], "total": 2, "next": None})],
        "GET /reminders/1": [(200, reminder(1, long, "deleted"))],
        "POST /reminders": [(422, {"detail": "When?", "code": "when"})],
        "DELETE /reminders/1": [DONE],
        "PATCH /reminders/1": [AWAY, DONE],
    }
    async with opened(browser, origin, api, "#/reminders?link=once", ready=".row", size=PHONE) as here:
        page = here.page
        field = page.get_by_label("Remind me")
        await field.fill("blah")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("When?")).to_be_visible()
        await field.press_sequentially("!")
        await expect(page.get_by_text("When?")).to_have_count(0)
        await page.get_by_label("Actions").first.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("menuitem").first).to_be_focused()
        await page.keyboard.press("ArrowUp")
        api.answers["GET /reminders"] = [(200, {"reminders": [reminder(2, "bins")], "total": 1, "next": None})]
        await page.keyboard.press("Enter")
        await expect(page.locator(".row")).to_have_count(1)
        await expect(page.get_by_role("link", name="bins")).to_be_focused()
        toast = page.locator(".toast", has_text="Deleted")
        box = await toast.bounding_box()
        assert box
        assert box["height"] < 120
        await toast.get_by_role("button", name="Undo").dblclick()
        await expect(page.get_by_text("The disk is full.")).to_be_visible()
        assert len(api.called("PATCH /reminders/1")) == 1
        await toast.get_by_role("button", name="Undo").click()
        await expect(toast).to_have_count(0)
        assert len(api.called("PATCH /reminders/1")) == 2
        await here.go("/reminders/1", ".words")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Reminder")
        await expect(page.locator(".words")).to_have_text(long.strip())
        await expect(page.locator("dt", has_text="Next")).to_have_count(0)


async def test_a_deleted_intent_can_be_brought_back(browser: Browser, origin: str, api: PlayedApi) -> None:
    intent = {"id": "3", "about": "dentist", "text": "the card", "used": 0, "most": 3, "expiresAt": AT}
    api.answers = {
        "GET /reminders": [(200, {"reminders": [], "total": 0, "next": None})],
        "GET /reminders/intents": [(200, {"intents": one}) for one in ([intent], [], [intent])],
        "DELETE /reminders/intents/3": [DONE],
        "PATCH /reminders/intents/3": [DONE],
    }
    async with opened(browser, origin, api, "#/reminders?link=once", ready=".row", size=PHONE) as here:
        page = here.page
        await page.get_by_label("Actions").click()
        await page.get_by_role("menuitem", name="Delete").click()
        await expect(page.locator(".row")).to_have_count(0)
        await page.locator(".toast", has_text="the card").get_by_role("button", name="Undo").click()
        await expect(page.locator(".row", has_text="the card")).to_be_visible()
        assert ("PATCH /reminders/intents/3", {"deleted": False}) in [(call, body) for call, _, body in api.calls]


async def test_what_was_typed_for_one_reminder_is_not_in_the_dialog_of_another_with_the_same_text(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    rows = [reminder(1, "take pills"), reminder(2, "take pills")]
    api.answers = {"GET /reminders": [(200, {"reminders": rows, "total": 2, "next": None})]}
    async with opened(browser, origin, api, "#/reminders?link=once", ready=".row") as here:
        page = here.page
        field = page.get_by_role("dialog").get_by_role("textbox")
        for number, words in ((0, "take pills"), (1, "take pills"), (0, "friday 9:00")):
            await page.get_by_label("Actions").nth(number).click()
            await page.get_by_role("menuitem", name="Change").click()
            await expect(field).to_have_value(words)
            if number == 0:
                await field.fill("friday 9:00")
            await page.keyboard.press("Escape")


async def test_what_was_typed_on_a_line_stays_after_the_session_has_ended(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    ended = (401, {"detail": "Open the page again.", "code": "not_signed_in"})
    api.answers = {
        "GET /reminders": [(200, {"reminders": [reminder(1, "bins")], "total": 1, "next": None})],
        "PATCH /reminders/1": [ended],
        "POST /reminders": [ended],
    }
    async with opened(browser, origin, api, "#/reminders?link=once", ready=".row") as here:
        page = here.page
        await page.get_by_label("Actions").click()
        await page.get_by_role("menuitem", name="Change").click()
        field = page.get_by_role("dialog").get_by_role("textbox")
        await field.fill("friday 9:00")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text("Open the page again.")
        await expect(field).to_have_value("friday 9:00")
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        field = page.get_by_label("Remind me")
        await field.fill("tomorrow 9:00 the dentist")
        await page.keyboard.press("Enter")
        await expect(page.locator(".toast")).to_contain_text("Open the page again.")
        await expect(field).to_have_value("tomorrow 9:00 the dentist")


async def test_a_button_that_is_disabled_leaves_the_focus_at_the_head_of_the_page(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    remember(api, 1, 2)
    api.answers |= {
        "GET /reminders": [(200, {"reminders": [reminder(1, "bins")], "total": 1, "next": None})],
        "POST /reminders": [(201, reminder(2, "bread"))],
    }
    async with opened(browser, origin, api, ready=".row") as here:
        page, title = here.page, here.page.get_by_role("heading", level=1)
        await page.get_by_role("button", name="Select", exact=True).press("Enter")
        await expect(page.get_by_role("button", name="Forget")).to_be_disabled()
        await expect(title).to_be_focused()
        await here.go("/reminders", ".row")
        await page.get_by_label("Remind me").fill("tomorrow 9:00 bread")
        await page.get_by_role("button", name="Add", exact=True).press("Enter")
        await expect(page.get_by_label("Remind me")).to_have_value("")
        await expect(title).to_be_focused()


async def test_an_address_that_has_no_id_where_one_belongs_opens_the_first_page(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    remember(api, 1)
    async with opened(browser, origin, api, ready=".row") as here:
        page = here.page
        for path in ("/memory/changes", "/reminders/calendar", "/preferences/last", "/sessions/1/versions/%2e%2e%2f"):
            await here.go(path)
            await expect(page.get_by_role("heading", level=1)).to_have_text("Memory")
            assert page.url == f"{origin}/#/memory"


async def test_a_switch_shows_what_was_chosen_until_the_server_refuses_it(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    shown = {"rows": [], "on": True, "waiting": 0, "waits": [], "pausedUntil": None, "here": "use"}
    api.answers = {"GET /preferences": [(200, shown)], "PUT /preferences/settings": [DONE, AWAY]}
    read = asyncio.Event()

    async def answer_late(route: Route) -> None:
        await read.wait()
        await route.fulfill(json=shown | {"on": False})

    async with opened(browser, origin, api, "#/preferences?link=once", ready=".switch") as here:
        page = here.page
        switch = page.get_by_role("switch")
        await page.route("**/api/preferences", answer_late)
        async with page.expect_request("**/api/preferences"):
            await switch.click()
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        await expect(switch).not_to_be_checked()
        read.set()
        await expect(page.get_by_text("This is off")).to_be_visible()
        await switch.click()
        await expect(page.get_by_text("The disk is full.")).to_be_visible()
        await expect(switch).not_to_be_checked()


async def test_a_fault_ends_with_its_page_and_what_is_not_there_is_said(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    api.answers = {
        "GET /preferences": [(200, {"rows": None})],
        "GET /preferences/999": [UNKNOWN],
        "GET /memory/projects": [(200, {"projects": [{"projectId": "t1", "displayName": "Chat", "sessions": 1}]})],
    }
    async with opened(browser, origin, api, "#/preferences?link=once", ready=".empty") as here:
        page = here.page
        await expect(page.get_by_text("ran into an error")).to_be_visible()
        for path, words in (
            ("/preferences/999", "There's no such preference."),
            ("/compose?project=t99", "There's no such project."),
            ("/sessions?project=t99", "There's no such project."),
        ):
            await here.go(path, ".empty")
            await expect(page.get_by_role("main")).to_contain_text(words)


async def test_a_chart_tells_each_of_the_persons_days(browser: Browser, origin: str, api: PlayedApi) -> None:
    zone = "Pacific/Auckland"
    start = datetime(2026, 5, 1, tzinfo=ZoneInfo(zone))
    used = {"input": 900, "cached": 300, "written": 0, "output": 200, "spent": 0.01, "unpriced": [], "answers": 2}
    days = [used] * 29 + [used | {"spent": 0.02}]
    api.answers = {
        "GET /me": [(200, ME | {"timeZone": zone})],
        "GET /usage": [(200, {
            "whole": used, "days": days, "starts": [(start + timedelta(days=at)).isoformat() for at in range(30)],
            "models": [], "works": [], "budget": None, "everywhere": None,
        })],
    }  # fmt: skip
    async with opened(browser, origin, api, "#/usage?link=once") as here:
        cost, tokens, cache = [here.page.locator(".chart").nth(at) for at in range(3)]
        for chart, told in ((cost, "2 May $0.01"), (tokens, "2 May In 1.2k Out 200"), (cache, "2 May 25%")):
            await chart.locator(".column").nth(1).hover()
            await expect(chart.locator(".right")).to_have_text(told)
        await expect(cost.locator(".meter-words")).to_have_text("1 May16 May30 May")
        measure = "bars => [bars[0].clientHeight, bars.at(-1).clientHeight]"
        heights = await cost.locator(".column > div").evaluate_all(measure)
        assert 200 < heights[1] <= 2 * heights[0] <= 220


async def test_a_refused_setting_is_explained_beside_it_and_shows_what_holds(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    days = dict.fromkeys(("createAfterDays", "aggressiveAfterDays", "pruneIntermediateAfterDays"), 7)
    api.answers = {
        "GET /memory/projects": [(200, {"projects": []})],
        "GET /memory/stats": [(200, {"stored": [], "database": 0, "freed": {"rows": 0}, "at": AT})],
        "GET /memory/settings": [(200, {
            "storage": {"maxCacheSize": "1GB", "compressionRetention": "all"},
            "defaults": {"compressionPreset": "standard", "model": "small"},
            "keepitDecay": {
                "compressionBase": {"light": 0.1, "moderate": 0.3, "aggressive": 0.5}, "pinnedWeight": 1,
                "maxSessionDistance": 10,
            },
            "ui": {"defaultView": "timeline", "showTokenEstimates": True}, "autoDecay": {"enabled": False, **days},
        })],
        "PUT /memory/settings": [(422, {"detail": "That can't be.", "code": "range"})],
    }  # fmt: skip
    async with opened(browser, origin, api, "#/settings?link=once") as here:
        page = here.page
        size, light = page.get_by_label("Storage limit for versions"), page.get_by_label("Light")
        big, tokens = page.get_by_role("radio", name="Big"), page.get_by_role("switch", name="Show tokens")
        await size.fill("plenty")
        await size.press("Enter")
        await light.press("End")
        await big.check(force=True)
        await tokens.click()
        told = page.get_by_role("alert")
        for control in (size, light, big, tokens):
            await expect(page.locator(".field, fieldset, .tick", has=control).get_by_role("alert")).to_have_count(1)
        await expect(told).to_have_text(["That can't be."] * 4)
        await expect(page.locator(".toast")).to_have_count(0)
        await expect(size).to_have_value("1GB")
        await expect(light).to_have_value("0.1")
        await expect(page.get_by_role("radio", name="Small")).to_be_checked()
        await expect(tokens).to_be_checked()
        await size.fill("2GB")
        await expect(told).to_have_count(3)


async def test_an_answer_shows_its_formulas_as_such_and_is_copied_as_it_was_said(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    blocks = ("$$\\sigma = \\frac{M}{W}$$\n", "\\[\nq = 2 \\\\[2pt]\n\\]\n", "$$ never closed\n\n")
    said = (
        f"Take \\(q l^2\\) and $x_1$, from $5 to $7, or 5$ = 7$:\n{blocks[0]}\n{blocks[1]}Done at **$3**.\n{blocks[2]}"
        f"Plain again. {'$' + '^' * 50_000}"
    )
    message = {"messageUuid": "m2", "role": "assistant", "name": None, "text": said, "at": AT, "untrusted": False}
    api.answers = {
        "GET /memory/sessions/1/messages": [(200, {"messages": [message], "total": 1, "next": None})],
        "GET /memory/sessions/1": [(200, {"title": None, "keepitMarkers": []})],
    }
    async with opened(browser, origin, api, "#/sessions/1/original?link=once", ready=".said", size=PHONE) as here:
        words = here.page.locator(".words")
        await expect(words.locator("code")).to_have_text(["q l^2", "x_1"])
        assert await words.locator(".formula").all_text_contents() == [*blocks]
        label = await words.locator(".formula").first.evaluate("one => getComputedStyle(one, '::before').content")
        assert label == '"Formula in TeX"'
        assert await words.text_content() == said
        assert await here.find_overflow() == []
        assert await here.find_violations() == []


async def test_an_answer_shows_its_code_and_tables_and_is_copied_as_it_was_said(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    said = (
        "## Loads\nTake **3.67 kN** and `q = 2`:\n\n| Case | kN |\n| --- | ---: |\n| Crowd | 5 |\n  | Snow | 2 |\n\n"
        f"```python\ndef load(span):\n    return {'2 + ' * 40}1\n```\n> הגשר\nDone *soon*, 2*3*4 * 5."
    )
    marker = {"markerId": "p1", "messageUuid": "m2", "weight": 0.8, "content": "Take **3.67 kN** and", "position": None}
    message = {"messageUuid": "m2", "role": "assistant", "name": None, "text": said, "at": AT, "untrusted": False}
    api.answers = {
        "GET /memory/sessions/1/messages": [(200, {"messages": [message], "total": 1, "next": None})],
        "GET /memory/sessions/1": [(200, {"title": "Loads", "keepitMarkers": [marker]})],
    }
    async with opened(browser, origin, api, "#/sessions/1/original?link=once", ready=".said", size=PHONE) as here:
        words = here.page.locator(".words")
        await expect(words.locator("strong")).to_have_text(["## Loads", "3.67 kN"])
        await expect(words.locator("em")).to_have_text("soon")
        await expect(words.locator("pre")).to_contain_text("def load(span):")
        await expect(words.locator("tr").nth(1)).to_have_text("| Crowd | 5 |\n")
        await expect(words.locator("tr").nth(2).locator("td")).to_have_text(["  | Snow ", "| 2 |\n"])
        await expect(words.locator("mark")).to_have_text(["Take ", "**", "3.67 kN", "**", " and"])
        assert await words.locator(".quote").evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"
        left, right = "| --- | ---: |\n", ""  # the line below a table's head is no text
        assert await words.text_content() == said.replace(left, right)
        assert await here.find_overflow() == []
        assert await here.find_violations() == []


async def test_a_list_is_read_again_if_what_is_on_its_way_may_be_old(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    rows = [reminder(1, "bins"), reminder(2, "bread")]
    api.answers = {
        "GET /reminders": [(200, {"reminders": rows, "total": 2, "next": None})],
        "DELETE /reminders/1": [DONE],
        "DELETE /reminders/2": [DONE],
    }
    gone = asyncio.Event()

    async def answer_late(route: Route) -> None:
        await gone.wait()
        await route.fulfill(json={"reminders": rows[1:], "total": 1, "next": None})

    async with opened(browser, origin, api, "#/reminders?link=once", ready=".row") as here:
        page = here.page
        await page.route("**/api/reminders?*", answer_late, times=1)
        for text in ("bins", "bread"):
            await page.locator(".row", has_text=text).get_by_label("Actions").click()
            await page.get_by_role("menuitem", name="Delete").click()
            await expect(page.locator(".toast", has_text=text)).to_be_visible()
        api.answers["GET /reminders"] = [(200, {"reminders": [], "total": 0, "next": None})]
        gone.set()
        await expect(page.locator(".row")).to_have_count(0)
        await expect(page.get_by_role("heading", level=1)).to_be_focused()


def spent(dollars: float) -> dict[str, Any]:
    """Returns what the page of usage shows."""
    used = {"input": 9, "cached": 0, "written": 0, "output": 9, "spent": dollars, "answers": 1, "unpriced": []}
    return {
        "whole": used, "days": [used], "starts": [AT], "models": [], "works": [], "budget": None, "everywhere": None
    }  # fmt: skip


async def test_a_preview_is_asked_for_again_while_the_server_is_away(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    made = "POST /memory/projects/p1/compositions"
    project = {"projectId": "p1", "displayName": "Private chat", "space": "private", "sessions": 1}
    one = {"sessionId": "7", "title": "Azores", "projectId": "p1"}
    plan = {"totalTokens": 900, "totalTokenBudget": 16_000, "toMake": 0, "components": []}
    api.answers = {
        "GET /usage": [(200, spent(1))],
        "GET /memory/projects": [(200, {"projects": [project]})],
        "GET /memory/projects/p1/compositions": [(200, {"compositions": [], "total": 0, "next": None})],
        "GET /memory/settings": [(200, {"ui": {"confirmDestructiveActions": True}})],
        "GET /memory/sessions/7": [(200, one)],
        made: [AWAY],
    }
    async with opened(browser, origin, api, "#/usage?link=once") as here:
        page = here.page
        await page.clock.install()
        await here.go("/compose?add=7", ".part")
        await page.clock.run_for(1000)
        await expect(page.get_by_text("The disk is full.")).to_be_visible()
        api.answers[made] = [(200, plan)]
        await page.clock.run_for(8000)
        await expect(page.get_by_text("about 900 tokens")).to_be_visible()
        asked = len(api.called(made))
        await page.clock.run_for(20_000)
        assert len(api.called(made)) == asked == 2


async def test_nothing_can_be_composed_before_there_is_a_conversation(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    api.answers = {"GET /memory/projects": [(200, {"projects": []})]}
    async with opened(browser, origin, api, "#/sessions?link=once", ready=".empty") as here:
        await expect(here.page.get_by_text("No conversations yet")).to_be_visible()
        await expect(here.page.locator(".page-head").get_by_role("button", name="Compose")).to_be_disabled()


async def test_a_passage_that_is_found_shows_no_signs_of_bold_words(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    project = {"projectId": "p1", "displayName": "Private chat", "space": "private", "sessions": 1}
    text = (
        "… of **\2Azores\3**: *nine* isles, 2 * 3 km, f(*a, **b), **all … of *old* fire** and **rain … 4* inn, f(*x …"
    )
    found = {"sessionId": "7", "messageId": "m1", "versionId": None, "at": AT, "snippet": text}
    api.answers = {
        "GET /memory/projects": [(200, {"projects": [project]})],
        "GET /memory/search": [(200, {"results": [found], "total": 1, "next": None})],
    }
    async with opened(browser, origin, api, "#/sessions?link=once") as here:
        await here.go("/sessions?q=Azores", ".row")
        title = here.page.locator(".row-title")
        await expect(title).to_have_text(
            "… of Azores: nine isles, 2 * 3 km, f(*a, **b), all … of old fire and rain … 4* inn, f(*x …"
        )
        await expect(title.locator("mark")).to_have_text("Azores")


LEFT = """(one, words) => {
  for (const all = document.createTreeWalker(one, NodeFilter.SHOW_TEXT); all.nextNode(); ) {
    const at = all.currentNode.data.indexOf(words);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(all.currentNode, at);
    range.setEnd(all.currentNode, at + words.length);
    return range.getBoundingClientRect().left;
  }
}"""
"""Where words of an element begin."""


async def test_what_follows_a_name_from_right_to_left_stays_behind_it(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    remember(api, 1)
    said = {"role": "user", "name": "عائشة", "text": "I like tea", "at": AT}
    project = {"projectId": "p1", "displayName": "عائلة", "space": "group", "sessions": 3}
    api.answers |= {
        "GET /memories/1/source": [(200, {"source": {"at": AT, "said": said}})],
        "GET /memory/projects": [(200, {"projects": [project]})],
        "GET /memory/projects/p1/sessions": [(200, {"sessions": [], "total": 0, "next": None})],
    }
    async with opened(browser, origin, api, "#/memory/1?link=once", ready="figcaption") as here:
        caption = here.page.locator("figcaption")
        assert await caption.evaluate(LEFT, "عائشة") < await caption.evaluate(LEFT, "1 May")
        await here.go("/sessions")
        await expect(here.page.locator("option")).to_have_text("\u2068عائلة\u2069 · 3 sessions · group")


async def test_what_is_typed_is_there_when_one_comes_back(browser: Browser, origin: str, api: PlayedApi) -> None:
    remember(api, 1, 2)
    liked = {"rows": [], "on": True, "waiting": 0, "waits": [], "pausedUntil": None, "here": "use"}
    api.answers |= {
        "GET /reminders": [(200, {"reminders": [], "total": 0, "next": None})],
        "POST /reminders": [(201, reminder(1, "bread"))],
        "GET /preferences": [(200, liked)],
        "POST /preferences": [(201, {"acts": [], "patterns": [{"polarity": 1, "pattern": "short answers"}]})],
    }
    async with opened(browser, origin, api, ready=".row") as here:
        page = here.page
        for path, label, words in (
            ("/reminders", "Remind me", "tomorrow 9:00 bread"), ("/preferences", "In a few words", "short answers")
        ):  # fmt: skip
            for had in ("", words):
                await here.go(path)
                await expect(page.get_by_label(label)).to_have_value(had)
                await page.get_by_label(label).fill(words)
                await here.go("/memory", ".row")
            await here.go(path)
            await page.get_by_role("button", name="Add", exact=True).click()
            await expect(page.get_by_label(label)).to_have_value("")
            await here.go("/memory", ".row")
            await here.go(path)
            await expect(page.get_by_label(label)).to_have_value("")
        await here.go("/memory", ".row")
        await page.get_by_role("button", name="Select", exact=True).click()
        for number in (1, 2):
            await page.get_by_label(f"Select: Fact {number}", exact=True).check()
        await page.get_by_role("button", name="Merge two").click()
        await page.get_by_role("dialog").get_by_role("textbox").fill("One fact")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Merge two").click()
        await expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value("One fact")


async def test_a_preference_that_was_not_added_is_there_with_its_side(
    browser: Browser, origin: str, api: PlayedApi
) -> None:
    liked = {"rows": [], "on": True, "waiting": 0, "waits": [], "pausedUntil": None, "here": "use"}
    remember(api, 1)
    api.answers |= {
        "GET /preferences": [(200, liked)],
        "POST /preferences": [(201, {"acts": [], "patterns": [{"polarity": -1, "pattern": "jokes"}]})],
    }
    async with opened(browser, origin, api, "#/preferences?link=once", ready=".segmented") as here:
        page, field = here.page, here.page.get_by_label("In a few words")
        await page.get_by_role("radio", name="Avoid").check()
        await field.fill("jokes")
        await here.go("/memory", ".row")
        await here.go("/preferences", ".segmented")
        await expect(field).to_have_value("jokes")
        await expect(page.get_by_role("radio", name="Avoid")).to_be_checked()
        await page.get_by_role("button", name="Add", exact=True).click()
        await expect(field).to_have_value("")
        await expect(page.get_by_role("radio", name="Avoid")).to_be_checked()
        sent = [body for call, _, body in api.calls if call == "POST /preferences"]
        assert sent == [{"polarity": "avoid", "pattern": "jokes"}]


@pytest.mark.parametrize("saved", [True, False], ids=["saved", "refused"])
@pytest.mark.parametrize(
    ("path", "label", "words", "body"),
    [
        ("/reminders", "Remind me", "tomorrow 9:00 bread", {"id": "1", "nextAt": AT, "text": "bread"}),
        (
            "/preferences", "In a few words", "short answers",
            {"acts": [], "patterns": [{"polarity": 1, "pattern": "short answers"}]},
        ),
    ],
    ids=["reminder", "preference"],
)  # fmt: skip
async def test_what_is_being_saved_when_one_comes_back_is_typed_again_only_if_it_is_refused(
    browser: Browser,
    origin: str,
    api: PlayedApi,
    path: str,
    label: str,
    words: str,
    body: Any,
    saved: bool,
) -> None:
    liked = {"rows": [], "on": True, "waiting": 0, "waits": [], "pausedUntil": None, "here": "use"}
    remember(api, 1)
    api.answers |= {
        "GET /reminders": [(200, {"reminders": [], "total": 0, "next": None})],
        "GET /preferences": [(200, liked)],
    }
    back = asyncio.Event()

    async def answer_late(route: Route) -> None:
        if route.request.method == "POST":
            await back.wait()
            await route.fulfill(status=201 if saved else 500, json=body if saved else AWAY[1])
        else:
            await route.fallback()

    async with opened(browser, origin, api, f"#{path}?link=once") as here:
        page, field = here.page, here.page.get_by_label(label)
        await page.route(f"**/api{path}", answer_late)
        await field.fill(words)
        async with page.expect_request(lambda request: request.method == "POST"):
            await page.keyboard.press("Enter")
        await here.go("/memory", ".row")
        await page.evaluate("path => { location.hash = `#${path}` }", path)  # it reads again only after the answer
        await expect(page.get_by_role("heading", level=1)).to_have_text(path[1:].capitalize())
        back.set()
        await expect(page.locator(".toast")).to_be_visible()
        await expect(field).to_have_value("" if saved else words)
        await here.go("/memory", ".row")
        await here.go(path)
        await expect(field).to_have_value("" if saved else words)


SESSION = "/memory/sessions/7"
MADE = {
    "versionId": "v001", "name": "v001_short", "outputTokens": 9, "outputMessages": 1, "compressionRatio": 3,
    "keepitStats": {"preserved": 0, "summarized": 0}, "createdAt": AT, "sourceVersion": None, "settings": {},
    "leftOut": 0, "rows": [{"role": "user", "at": AT, "kept": False, "text": "Shorter now"}],
}  # fmt: skip
SAID = {"messageUuid": "m1", "role": "user", "name": "Ada", "at": AT, "text": "Said later", "untrusted": False}
MARKED = {
    "markerId": "k1", "weight": 0.8, "label": "important", "content": "Marked later", "survivedIn": [],
    "summarizedIn": [],
}  # fmt: skip
ASKED = {"id": "3", "about": "dentist", "text": "Asked later", "used": 0, "most": 3, "expiresAt": AT}


@pytest.mark.parametrize(
    ("path", "call", "before", "after", "words"),
    [
        ("/sessions/7/versions/v001", f"{SESSION}/versions/v001", (409, {"detail": "Wait."}), MADE, "Shorter now"),
        ("/sessions/7/original", f"{SESSION}/messages", (200, {"messages": []}), {"messages": [SAID]}, "Said later"),
        ("/sessions/7/markers", f"{SESSION}/keepits", (200, {"markers": []}), {"markers": [MARKED]}, "Marked later"),
        ("/reminders", "/reminders/intents", (200, {"intents": []}), {"intents": [ASKED]}, "Asked later"),
        ("/usage", "/usage", (200, spent(1)), spent(2.5), "$2.50"),
    ],
)
async def test_a_page_shows_what_has_changed_elsewhere_when_one_comes_back(
    browser: Browser, origin: str, api: PlayedApi, path: str, call: str, before: Any, after: Any, words: str
) -> None:
    api.answers = {
        "GET /reminders": [(200, {"reminders": [], "total": 0, "next": None})],
        f"GET {SESSION}/keepits": [(200, {"markers": []})],
        f"GET {call}": [before],
    }
    async with opened(browser, origin, api, f"#{path}?link=once") as here:
        await expect(here.page.get_by_text(words)).to_have_count(0)
        api.answers[f"GET {call}"] = [(200, after)]
        await look_again(here.page)
        await expect(here.page.get_by_text(words).first).to_be_visible()
