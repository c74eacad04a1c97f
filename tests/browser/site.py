"""A running Relay with its web app, between the stand-ins, and people who open the app from Telegram."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser

from relay.surfaces.http.files import STATIC
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.browser.telegram_client import BRIDGE, sign_init_data, write_hash
from tests.browser.visit import Visit, visit

ROOT = Path(__file__).parent.parent.parent
ROUTE = re.compile(r'path: "([^"]+)", name: "(\w+)"')


def list_pages() -> dict[str, str]:
    """Returns the path of each page by name, as in routes.js."""
    found = ROUTE.findall((STATIC / "routes.js").read_text("utf-8"))
    return {name: re.sub(r"/:\w+\?", "", path) for path, name in found if (STATIC / f"pages/{name}.js").exists()}


@dataclass
class Site:
    """A Relay and the origin of its app."""

    shared_relay: SharedRelay
    origin: str
    _addresses: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self, browser: Browser, user_id: int = OWNER, **how: Any) -> AsyncIterator[Visit]:
        """Opens the app as Telegram's client does for a user."""
        async with visit(browser, self.origin, script=BRIDGE, **how) as opened:
            await opened.page.goto(f"{self.origin}/{write_hash(sign_init_data(user_id))}")
            await opened.settle()
            yield opened

    @asynccontextmanager
    async def call(self, user_id: int = OWNER) -> AsyncIterator[httpx.AsyncClient]:
        """Yields a client of the API, signed in as a user."""
        async with httpx.AsyncClient(base_url=f"{self.origin}/api", timeout=20) as client:
            proof = {"Authorization": f"tma {sign_init_data(user_id)}"}
            token = (await client.post("/session", headers=proof)).json()["token"]
            client.headers["Authorization"] = f"Bearer {token}"
            yield client

    async def addresses(self) -> dict[str, str]:
        """Returns the path of each page, with ids of objects that existed at the first call."""
        if not self._addresses:
            self._addresses = await self._find_addresses()
        return self._addresses

    async def _find_addresses(self) -> dict[str, str]:
        async with self.call() as api:
            projects = (await api.get("/memory/projects")).json()["projects"]
            at = f"/memory/projects/{projects[0]['projectId']}"
            listed = await api.get(f"{at}/sessions")
            session = max(listed.json()["sessions"], key=lambda one: (one["versions"], one["markers"]))["sessionId"]
            markers = (await api.get(f"/memory/sessions/{session}/keepits")).json()["markers"]
            composed = (await api.get(f"{at}/compositions")).json()["compositions"]
        (turn,) = self.shared_relay.sql("select max(id) from relay.turn where assistant_message_id is not null")[0]
        known = {":sessionId": session, ":versionId": "v001"}
        pages = list_pages()
        if composed and "compose" in pages:
            pages["compose"] += f"/{composed[0]['compositionId']}"
        if "why" in pages:
            pages["why"] = f"/why/{turn}"
        if markers and "markers" in pages:
            pages["markers"] += f"/{markers[0]['markerId']}"
        return {name: re.sub(r":\w+", lambda found: known[found[0]], path) for name, path in pages.items()}


@asynccontextmanager
async def open_site(**settings: str) -> AsyncIterator[Site]:
    """Opens a Relay of its own on a free port."""
    here = {"RELAY_WEB": "on", "RELAY_WEB_PORT": "0", "PYTHONPATH": str(ROOT)}
    async with open_relay(module=("tests.browser.unhurried",), **here, **settings) as shared_relay:

        def listening() -> list[int]:
            lines = (json.loads(line) for line in shared_relay.relay.output().splitlines())
            return [line["port"] for line in lines if "port" in line]

        (port,) = await shared_relay.tg.wait_for(listening, 30)
        yield Site(shared_relay, f"http://127.0.0.1:{port}")
