"""A visit to the app with Chromium. It records what the page logs and requests, for tests to check."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.browser.conftest import CHROMIUM

PHONE, DESKTOP = (320, 640), (1280, 800)
PATIENCE = 15_000
"""How many milliseconds a busy machine may take to show something."""
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],  # what passes isn't described
}
STILL = "() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => 0)))"
MOST_STOPS = 400
UNUSED: WeakKeyDictionary[Browser, dict[tuple[Any, ...], list[BrowserContext]]] = WeakKeyDictionary()
"""Contexts without a window, by their options. A new one costs a third of a visit. What the app keeps goes with
the window; only the browser's cache stays."""

expect.set_options(timeout=PATIENCE)
FOCUSABLE = """() => {
  const all = document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]');
  const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0
    && !(one.type === "radio" && !one.checked);
  return [...all].filter(seen).map((one, at) => ((one.dataset.stop = at), at)).length;
}"""
WATCH = """() => {
  window.focused = [];
  document.activeElement.blur();
  scrollTo(0, 0);
  const note = ({ target }) => {
    const ring = getComputedStyle(target).outlineStyle !== "none" || target.type === "radio";
    window.focused.push([target.dataset.stop ?? null, ring ? "" : target.outerHTML.slice(0, 200)]);
  };
  addEventListener("focusin", note);
  window.unwatch = () => { removeEventListener("focusin", note); return window.focused; };
}"""
"""Records what gets the focus, and whether one sees it."""
WIDER = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const box = one.getBoundingClientRect();
  const wide = box.width && box.right > document.documentElement.clientWidth + 1;
  return wide && !one.closest(".chips, .scroll, .sr-only, .skip, dialog");
}).slice(0, 5).map((one) => one.outerHTML.slice(0, 160))"""

BROKEN = """() => [...document.querySelectorAll("th, td")].flatMap((cell) => {
  const all = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = all.nextNode(); node; node = all.nextNode())
    for (const word of node.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) found.push(word[0]);
    }
  return found;
})"""
CUT = """() => [...document.querySelectorAll("select, input[placeholder]")].filter((one) => {
  const text = one.matches("select") ? one.selectedOptions[0]?.text : one.value || one.placeholder;
  const { font, paddingLeft, paddingRight } = getComputedStyle(one);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const used = parseFloat(paddingLeft) + parseFloat(paddingRight) + (one.matches("select") ? 18 : 0);
  return pen.measureText(text || "").width > one.clientWidth - used;
}).map((one) => one.outerHTML.slice(0, 160))"""


@dataclass
class Visit:
    """An open page and its recorded problems."""

    page: Page
    origin: str
    trouble: list[str] = field(default_factory=list)
    """Console errors, script errors, and requests to other origins."""

    def listen(self) -> None:
        page = self.page
        page.on(
            "console",
            lambda line: self._note(
                f"console: {line.text} {line.location.get('url')}", line.type in ("error", "warning")
            ),
        )
        page.on("pageerror", lambda error: self._note(f"fault: {error}"))
        page.on("request", lambda request: self._note(f"elsewhere: {request.url}", not self._own(request.url)))

    def _note(self, words: str, wrong: bool = True) -> None:
        if wrong:
            self.trouble.append(words)

    def _own(self, url: str) -> bool:
        return url.startswith((f"{self.origin}/", "data:", f"blob:{self.origin}/"))

    async def go(self, path: str, ready: str = "h1") -> None:
        """Opens an address of the app and waits until the page has shown its content."""
        await self.page.evaluate("path => { location.hash = `#${path}` }", path)
        await self.settle(ready)

    async def settle(self, ready: str = "h1") -> None:
        """Waits until the page is there and has finished loading."""
        await self.page.wait_for_selector(ready)
        await self.page.wait_for_function("() => !document.querySelector('.skeleton, .boot, [aria-busy=true]')")
        await self.page.evaluate(STILL)

    async def find_violations(self) -> list[str]:
        """Returns what axe-core finds wrong, one line each."""
        if not await self.page.evaluate("() => 'axe' in window"):
            await self.page.evaluate(AXE_SCRIPT)
        found = await self.page.evaluate("async (rules) => (await axe.run(rules)).violations", RULES)
        return [f"{one['id']}: {node['html'][:160]} {node['failureSummary']}" for one in found for node in one["nodes"]]

    async def find_overflow(self) -> list[str]:
        """Returns the elements that make the page scroll sideways."""
        width, room = await self.page.evaluate(
            "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        return await self.page.evaluate(WIDER) or [f"{width} > {room}"] if width > room else []

    async def find_broken_words(self) -> list[str]:
        """Returns the words in tables that are on two lines."""
        found: list[str] = await self.page.evaluate(BROKEN)
        return found

    async def find_cut_fields(self) -> list[str]:
        """Returns the fields that are narrower than what they show."""
        found: list[str] = await self.page.evaluate(CUT)
        return found

    async def find_unreachable(self) -> list[str]:
        """Moves through the page with Tab. Returns the elements that Tab never reached or that showed no focus."""
        wanted = await self.page.evaluate(FOCUSABLE)
        await self.page.evaluate(WATCH)
        for _ in range(min(wanted, MOST_STOPS) + 12):
            await self.page.keyboard.press("Tab")
        focused = await self.page.evaluate("() => window.unwatch()")
        reached = {stop for stop, _ in focused}
        wrong = [f"no focus to be seen: {unseen}" for stop, unseen in focused if unseen and stop is not None]
        missing = [stop for stop in map(str, range(min(wanted, MOST_STOPS))) if stop not in reached]
        query = "stop => document.querySelector(`[data-stop='${stop}']`)?.outerHTML.slice(0, 200)"
        gone = [await self.page.evaluate(query, stop) for stop in missing]
        return wrong + [f"never reached: {one}" for one in gone if one]

    async def posted(self, kind: str) -> list[Any]:
        """Returns the data of the events of this kind that were posted to Telegram's client."""
        return [data for type_, data in await self.page.evaluate("() => window.posted") if type_ == kind]


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """Opens Chromium without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def visit(
    browser: Browser, origin: str, size: tuple[int, int] = DESKTOP, scheme: str = "light", script: str = "", **more: Any
) -> AsyncIterator[Visit]:
    """Opens an empty window of its own. `script` runs before the page's scripts."""
    width, height = size
    unused = UNUSED.setdefault(browser, {}).setdefault((size, scheme, *sorted(more.items())), [])
    context = (
        unused.pop()
        if unused
        else await browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            has_touch=size[0] < 600,
            is_mobile=size[0] < 600,
            timezone_id="Europe/Berlin",
            reduced_motion="reduce",
            **{"locale": "en-GB", **more},
        )
    )
    try:
        page = await context.new_page()
        page.set_default_timeout(PATIENCE)
        if script:
            await page.add_init_script(script)
        opened = Visit(page, origin)
        opened.listen()
        yield opened
    except BaseException:
        await context.close()
        raise
    for one in context.pages:
        await one.close()
    unused.append(context)
