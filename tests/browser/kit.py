"""The app's files with a page that holds every component, over a mocked API. Tests use it to check the kit alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import uvicorn
from playwright.async_api import Browser, Page, Route
from starlette.applications import Starlette

from relay.surfaces.http.access.guard import CSP, Guard
from relay.surfaces.http.files import add_files
from tests.browser.visit import Visit, visit

PAGE = Path(__file__).with_name("kit_page.js")
ME = {"userId": "1001", "name": "Ada", "admin": True, "timeZone": "Europe/Berlin", "version": "1.0", "model": "claude"}
Answer = tuple[int, dict[str, Any]]


def memory(number: int, content: str = "") -> dict[str, Any]:
    """Returns a memory as the API shows it, twenty a day."""
    day = f"{2026 - number // 7200}-{12 - number // 600 % 12:02d}-{28 - number // 20 % 28:02d}"
    return {"id": str(number), "content": content or f"Fact {number}", "createdAt": f"{day}T10:00:00Z"}


@dataclass
class PlayedApi:
    """The API's answers. `answers` holds them by method and path, in order; the last one repeats."""

    memories: list[dict[str, Any]] = field(default_factory=lambda: [memory(number) for number in range(30)])
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, str], dict[str, Any] | None]] = field(default_factory=list)
    events: str = ""
    kit: bool = True
    """The page of memories is kit_page.js."""

    def called(self, what: str) -> list[dict[str, str]]:
        """Returns the headers of each call of a method and path."""
        return [headers for call, headers, _ in self.calls if call == what]

    async def play(self, page: Page) -> None:
        """Answers the page's requests."""
        if self.kit:
            await page.route("**/pages/memory.js", self._show)
        await page.route("**/api/**", self._answer)

    async def _show(self, route: Route) -> None:
        await route.fulfill(path=PAGE, content_type="text/javascript", headers={"Content-Security-Policy": CSP})

    async def _answer(self, route: Route) -> None:
        request, url = route.request, urlsplit(route.request.url)
        what = f"{request.method} {url.path.removeprefix('/api')}"
        self.calls.append((what, await request.all_headers(), request.post_data_json))
        if what == "GET /events":
            if self.events:  # otherwise it stays open: after a stream that ended, the page reads everything again
                await route.fulfill(body=self.events, content_type="text/event-stream")
            return
        status, body = self._find(what, dict(parse_qsl(url.query)))
        kind = "application/json" if status < 400 else "application/problem+json"
        await route.fulfill(status=status, body=json.dumps(body), content_type=kind, headers=self.headers)

    def _find(self, what: str, query: dict[str, str]) -> Answer:
        if planned := self.answers.get(what):
            return planned.pop(0) if len(planned) > 1 else planned[0]
        if what == "POST /session":
            return 200, {"token": "secret", "expiresAt": "2030-01-01T00:00:00Z"}
        if what == "GET /me":
            return 200, ME
        if what == "GET /memories":
            found = [one for one in self.memories if query.get("q", "").lower() in one["content"].lower()]
            start, limit = int(query.get("cursor", 0)), int(query.get("limit", 50))
            end = start + limit
            return 200, {
                "memories": found[start:end], "total": len(found), "next": str(end) if end < len(found) else None
            }  # fmt: skip
        known = {f"GET /memories/{one['id']}": one for one in self.memories}
        return (200, known[what]) if what in known else (404, {"detail": "I don't know that.", "code": "unknown"})


@asynccontextmanager
async def serve_files() -> AsyncIterator[str]:
    """Serves the app's files on a free port. Yields the origin."""
    app = Starlette()
    add_files(app)
    server = uvicorn.Server(uvicorn.Config(Guard(app), port=0, log_level="warning", lifespan="off"))
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined,method-assign]
    running = asyncio.create_task(server.serve())
    try:
        while not server.started:  # noqa: ASYNC110 — the server has no event for it
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def opened(
    browser: Browser, origin: str, api: PlayedApi, hash_: str = "#link=once", ready: str = "h1", **more: Any
) -> AsyncIterator[Visit]:
    """Opens the app with a link."""
    async with visit(browser, origin, **more) as here:
        await api.play(here.page)
        await here.page.goto(f"{origin}/{hash_}")
        await here.settle(ready)
        yield here


async def look_again(page: Page) -> None:
    """Hides the window and shows it. Then the page reads everything again."""
    for hidden in ("true", "false"):
        await page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
