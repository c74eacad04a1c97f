"""Access to the API of a running bot: from Telegram, by a link at the terminal, or with a token."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.acceptance.harness import FRIEND, OWNER, find_daytime_zone
from tests.acceptance.process_group import free_port
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.acceptance.test_people import LINK, ask, press
from tests.acceptance.test_terminal import relay
from tests.standins.telegram.values import TEST_TOKEN
from tests.unit.test_init_data import sign

pytestmark = pytest.mark.asyncio(loop_scope="module")
API_PAGE = Path(__file__).parents[2] / "docs/api.md"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    """A bot that serves its app. Its friend was let in by an invitation, not by the settings."""
    async with open_relay(RELAY_WEB="on", RELAY_WEB_PORT=str(free_port()), RELAY_USERS="") as shared_relay:
        await shared_relay.tg.wait_for(lambda: "listening over HTTP" in shared_relay.relay.output(), 30)
        yield shared_relay
        assert shared_relay.tracebacks() == []


def client(shared_relay: SharedRelay, **headers: str) -> httpx.AsyncClient:
    url = f"http://127.0.0.1:{shared_relay.relay.environment['RELAY_WEB_PORT']}"
    return httpx.AsyncClient(base_url=url, headers=headers)


async def sign_in(shared_relay: SharedRelay, user_id: int, token: str = TEST_TOKEN) -> httpx.Response:
    """Signs in as the page does when Telegram opens it."""
    init_data = sign(token, user={"id": user_id}, auth_date=str(int(time.time())), query_id=str(time.monotonic_ns()))
    async with client(shared_relay, Authorization=f"tma {init_data}") as web:
        return await web.post("/api/session")


async def let_in(shared_relay: SharedRelay, user_id: int) -> None:
    """Lets somebody in by an invitation."""
    link = LINK.search((await ask(shared_relay, shared_relay.tg.dm(shared_relay.tg.user(OWNER)), "/invite Ben")).text)
    assert link is not None
    await ask(shared_relay, shared_relay.tg.dm(shared_relay.tg.user(user_id, "Ben")), f"/start {link[2]}")
    await shared_relay.until_said(shared_relay.tg.dm(shared_relay.tg.user(OWNER)), "came with the invitation")


async def test_only_known_people_can_sign_in_to_the_api(shared_relay: SharedRelay) -> None:
    opened = await sign_in(shared_relay, OWNER)
    assert opened.status_code == 201
    async with client(shared_relay, Authorization=f"Bearer {opened.json()['token']}") as web:
        me = (await web.get("/api/me")).json()
        assert (me["userId"], me["admin"]) == (str(OWNER), True)
        assert (await web.delete("/api/session")).status_code == 204
        assert (await web.get("/api/me")).status_code == 401
    assert (await sign_in(shared_relay, OWNER, "1:another")).status_code == 401
    assert (await sign_in(shared_relay, 999_999)).status_code == 401
    async with client(shared_relay) as web:
        assert (await web.get("/api/me")).json()["code"] == "not_signed_in"
        page = await web.get("/")
        assert "frame-ancestors 'self' https://web.telegram.org" in page.headers["content-security-policy"]
        assert (await web.get("/healthz")).text == "ok\n"


@pytest.mark.slow("test_command_surfaces.py")
async def test_tokens_and_links_can_be_made_in_the_shell(shared_relay: SharedRelay, tmp_path: Path) -> None:
    async def shell(*words: str, ends: int = 0) -> str:
        code, printed = await relay(shared_relay.relay.environment, tmp_path, *words)
        assert code == ends, printed
        return printed

    made: dict[str, Any] = json.loads(await shell("token", "new", "phone", "--json"))
    async with client(shared_relay, Authorization=f"Bearer {made['token']}") as web:
        assert (await web.get("/api/me")).json()["userId"] == str(OWNER)
        listed = await shell("token", "list")
        assert "phone · made" in listed
        assert made["token"] not in listed
        number = listed.split()[0]
        assert f"Revoked: {number} phone." in await shell("token", "revoke", number)
        assert (await web.get("/api/me")).status_code == 401
    assert "You have no token 77" in await shell("token", "revoke", "77", ends=1)
    for name in ("phone", "laptop", "laptop"):
        await shell("token", "new", name)
    assert "phone." in await shell("token", "revoke", "phone")
    assert "You have no token phone" in await shell("token", "revoke", "phone", ends=1)
    refused = await shell("token", "revoke", "laptop", ends=1)
    assert "2 of your tokens are called laptop" in refused
    for number in refused.rpartition(": ")[2].strip(".\n").split(", "):
        await shell("token", "revoke", number)
    told = await shell("web")
    nonce = told.split("#link=")[1].split()[0]
    async with client(shared_relay) as web:
        assert [(await web.post("/api/session", json={"link": nonce})).status_code for _ in range(2)] == [201, 401]
    assert "RELAY_API=on" in (await relay(shared_relay.relay.environment | {"RELAY_API": "off"}, tmp_path, "web"))[1]
    elsewhere = shared_relay.relay.environment | {"RELAY_WEB_PORT": str(free_port())}
    code, printed = await relay(elsewhere, tmp_path, "web")
    assert code == 1
    assert "the bot isn't running here" in printed
    public = shared_relay.relay.environment | {"RELAY_WEB_URL": "https://relay.example.org"}
    assert "opens the app too, at https://relay.example.org." in (await relay(public, tmp_path, "web"))[1]


async def test_the_requests_shown_in_the_docs_are_answered(shared_relay: SharedRelay, tmp_path: Path) -> None:
    code, printed = await relay(shared_relay.relay.environment, tmp_path, "token", "new", "--json")
    assert code == 0, printed
    lines = re.findall(r"(?m)^curl .*$", API_PAGE.read_text("utf-8"))
    assert len(lines) >= 10
    await relay(shared_relay.relay.environment, tmp_path, "settings", "zone", find_daytime_zone())
    async with client(shared_relay, Authorization=f"Bearer {json.loads(printed)['token']}") as web:
        for line in lines:
            url = re.search(r'"\$API(/\S+)"', line)[1]  # type: ignore[index]
            body, key = re.search(r"--json '(.*)'", line), re.search(r'"(Idempotency-Key): (.*?)"', line)
            method = "POST" if body or "-X POST" in line else "GET"
            headers = {"Content-Type": "application/json"} | ({key[1]: key[2]} if key else {})
            async with web.stream(method, url, content=body[1] if body else None, headers=headers) as answer:
                assert answer.is_success, (line, await answer.aread())
    await relay(shared_relay.relay.environment, tmp_path, "settings", "zone", "server")


async def test_a_revoked_person_loses_api_access_at_once(shared_relay: SharedRelay) -> None:
    await let_in(shared_relay, FRIEND)
    opened = await sign_in(shared_relay, FRIEND)
    assert opened.status_code == 201
    async with client(shared_relay, Authorization=f"Bearer {opened.json()['token']}") as web:
        assert (await web.get("/api/me")).json()["name"] == "Ben"
        dm = shared_relay.tg.dm(shared_relay.tg.user(OWNER))
        await press(shared_relay, dm, await ask(shared_relay, dm, f"/revoke {FRIEND}"), "Revoke")
        assert (await web.get("/api/me")).status_code == 401
    assert (await sign_in(shared_relay, FRIEND)).status_code == 401


async def test_an_open_event_stream_does_not_delay_the_stop(shared_relay: SharedRelay) -> None:
    token = (await sign_in(shared_relay, OWNER)).json()["token"]
    async with client(shared_relay, Authorization=f"Bearer {token}") as web, web.stream("GET", "/api/events") as events:
        lines = events.aiter_lines()
        assert await anext(lines) == ": hello"
        stopping = asyncio.create_task(shared_relay.relay.stop())
        assert [line async for line in lines] == [""], "the stream ends properly"
        assert await stopping == 0
    await shared_relay.again()
    await shared_relay.tg.wait_polling()


async def test_without_the_api_only_health_and_metrics_are_served(shared_relay: SharedRelay) -> None:
    await shared_relay.relay.stop()
    shared_relay.relay.environment["RELAY_API"] = "off"
    before = shared_relay.relay.output().count("listening over HTTP")
    await shared_relay.again()
    await shared_relay.tg.wait_for(lambda: shared_relay.relay.output().count("listening over HTTP") > before, 30)
    async with client(shared_relay) as web:
        assert (await web.get("/healthz")).status_code == 200
        assert [(await web.get(path)).status_code for path in ("/", "/api/me", "/api/openapi.json")] == [404, 404, 404]
