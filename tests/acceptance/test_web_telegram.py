"""Ways to the web app in Telegram: the menu button, /browse, and buttons under lists."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from tests.acceptance.harness import FRIEND, OWNER, STRANGER
from tests.acceptance.process_group import free_port
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.acceptance.test_people import LINK, ask, press
from tests.standins.telegram import StoredMessage
from tests.standins.telegram.values import TEST_TOKEN
from tests.unit.test_init_data import sign

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = "https://relay.example.org"
MENU = {"type": "web_app", "text": "Memory", "web_app": {"url": f"{URL}/"}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    """A bot whose app has a public address."""
    settings = {"RELAY_WEB": "on", "RELAY_WEB_PORT": str(free_port()), "RELAY_WEB_URL": URL, "RELAY_USERS": ""}
    async with open_relay(start=False, **settings) as shared_relay:
        shared_relay.tg.dm(shared_relay.tg.user(OWNER, "Ada"))
        await shared_relay.relay.start()
        await shared_relay.tg.wait_polling()
        yield shared_relay
        assert shared_relay.tracebacks() == []


def opens(message: StoredMessage) -> list[str]:
    """Returns the pages that a message's buttons open inside Telegram."""
    rows = (message.raw.get("reply_markup") or {}).get("inline_keyboard", ())
    return [one["web_app"]["url"] for row in rows for one in row if "web_app" in one]


async def test_only_people_with_access_have_the_menu_button(shared_relay: SharedRelay) -> None:
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.menu_buttons == {OWNER: MENU})
    owner = shared_relay.tg.dm(shared_relay.tg.user(OWNER))
    await shared_relay.tg.say(shared_relay.tg.dm(shared_relay.tg.user(STRANGER, "Sid")), None, "/start")
    await shared_relay.until_said(owner, "asks for access")
    link = LINK.search((await ask(shared_relay, owner, "/invite Ben")).text)
    assert link is not None
    await ask(shared_relay, shared_relay.tg.dm(shared_relay.tg.user(FRIEND, "Ben")), f"/start {link[2]}")
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.menu_buttons == {OWNER: MENU, FRIEND: MENU})
    await shared_relay.until_said(owner, "came with the invitation")
    await press(shared_relay, owner, await ask(shared_relay, owner, f"/revoke {FRIEND}"), "Revoke")
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.menu_buttons == {OWNER: MENU})


async def test_browse_opens_the_app_in_private_and_links_there_from_a_group(shared_relay: SharedRelay) -> None:
    owner = shared_relay.tg.user(OWNER)
    dm = shared_relay.tg.dm(owner)
    assert opens(await ask(shared_relay, dm, "/browse")) == [f"{URL}/"]
    assert opens(await ask(shared_relay, dm, "/start hello")) == [f"{URL}/"]
    room = shared_relay.tg.group(-1000000009001, "Room", [owner, shared_relay.tg.user(STRANGER)], False)
    told = await shared_relay.tg.wait_reply(room, await shared_relay.tg.say(room, owner, "/browse@relay_test_bot"))
    assert "opens in our private chat" in told.text
    assert told.raw["reply_markup"]["inline_keyboard"] == [
        [{"text": "Open it in our chat", "url": "https://t.me/relay_test_bot?start=hello"}]
    ]


async def test_lists_have_a_button_that_opens_their_page_in_the_app(shared_relay: SharedRelay) -> None:
    dm = shared_relay.tg.dm(shared_relay.tg.user(OWNER))
    await shared_relay.answered(dm, await shared_relay.asked(dm))
    listed = await ask(shared_relay, dm, "/sessions")
    assert opens(listed) == [f"{URL}/#/sessions"]
    for command, page in (("/usage", "/usage"), ("/why", "/why/")):
        await shared_relay.tg.say(dm, None, command)
        await shared_relay.tg.wait_for(
            lambda page=page: [one for one in shared_relay.replies(dm) if f"{URL}/#{page}" in str(opens(one))]
        )
    shared_relay.model.rule("walnut", "Noted. [LEARN: Has a walnut tree]")
    await shared_relay.tg.say(dm, None, "my walnut tree")
    await shared_relay.until_said(dm, "Noted.")
    for _ in range(2):
        shown = await ask(shared_relay, dm, "/memory")
        assert opens(shown) == [f"{URL}/#/memory"]
    room = shared_relay.tg.group(-1000000009002, "Other", [shared_relay.tg.user(OWNER)], False)
    told = await shared_relay.tg.wait_reply(room, await shared_relay.tg.say(room, None, "/sessions@relay_test_bot"))
    assert opens(told) == [], "Telegram cannot open the app in groups"


async def test_the_startapp_parameter_gives_a_stranger_no_access(shared_relay: SharedRelay) -> None:
    """Telegram signs startapp together with the identity of the person who opened the link, whoever that is."""
    url = f"http://127.0.0.1:{shared_relay.relay.environment['RELAY_WEB_PORT']}/api/session"
    for user_id, status in ((OWNER, 201), (STRANGER, 401)):
        init_data = sign(
            TEST_TOKEN,
            user={"id": user_id},
            auth_date=str(int(time.time())),
            start_param="memory_1",
            chat_type="sender",
        )
        async with httpx.AsyncClient() as client:
            answer = await client.post(url, headers={"Authorization": f"tma {init_data}"})
        assert answer.status_code == status


async def test_browse_without_a_web_address_says_what_to_do(shared_relay: SharedRelay) -> None:
    await shared_relay.relay.stop()
    shared_relay.relay.environment["RELAY_WEB_URL"] = ""
    await shared_relay.again()
    dm = shared_relay.tg.dm(shared_relay.tg.user(OWNER))
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.menu_buttons == {}, 30)
    told = await ask(shared_relay, dm, "/browse")
    assert "set RELAY_WEB_URL" in told.text
    assert "relay web prints a link" in told.text
    assert opens(await ask(shared_relay, dm, "/sessions")) == []
