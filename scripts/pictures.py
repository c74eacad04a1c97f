"""Makes pictures of every page of the web app, over a running Relay: `python -m scripts.pictures`. Needs Chromium.

Writes each page at the size of a phone and of a desktop, in light and in dark, into build/pictures/, and the two that
the README shows into docs/app/. Arguments: the names of some pages, as in routes.js.
"""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path

from PIL import Image

from tests.acceptance.harness import OWNER
from tests.browser.believable import compress, fill
from tests.browser.site import Site, list_pages, open_site
from tests.browser.visit import CHROMIUM, open_browser

ROOT = Path(__file__).parent.parent
ALL, README = ROOT / "build/pictures", ROOT / "docs/app"
SIZES = {"phone": (390, 844), "desktop": (1280, 800)}
SCHEMES = ("light", "dark")
SHOWN = {"memory-phone-dark": "phone.png", "session-desktop-light": "desktop.png"}
"""The pictures that the README shows, and their files."""
COLORS = 160
CALM = 0.5
"""Seconds for a page to finish loading."""


async def take(site: Site, names: list[str]) -> None:
    """Takes the pictures of the named pages; of all pages if there are no names."""
    addresses = await site.addresses()
    async with open_browser() as browser:
        for kind, size in SIZES.items():
            for scheme in SCHEMES:
                async with site.open(browser, size=size, scheme=scheme, device_scale_factor=2) as here:
                    for name in names or addresses:
                        await here.go(addresses[name])
                        await asyncio.sleep(CALM)
                        save(f"{name}-{kind}-{scheme}", await here.page.screenshot())
                    for line in here.trouble:
                        print(line, file=sys.stderr)


def save(name: str, picture: bytes) -> None:
    """Writes a picture, and also a copy for the README if it shows it."""
    ALL.mkdir(parents=True, exist_ok=True)
    (ALL / f"{name}.png").write_bytes(picture)
    if name in SHOWN:
        README.mkdir(parents=True, exist_ok=True)
        image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLORS)
        image.save(README / SHOWN[name], optimize=True)


async def run(names: list[str]) -> None:
    """Starts a Relay, fills it, and takes the pictures."""
    async with open_site() as site:
        shared_relay = site.shared_relay
        ada = shared_relay.tg.user(OWNER, "Ada")
        await fill(shared_relay, shared_relay.tg.dm(ada), ada)
        async with site.call() as api:
            await compress(api)
        await take(site, names)


def main() -> None:
    """Takes the pictures that the arguments name."""
    if CHROMIUM is None:
        sys.exit("The pictures are made with Chromium, and none was found (Debian and Ubuntu: apt install chromium).")
    names = sys.argv[1:]
    if unknown := set(names) - set(list_pages()):
        sys.exit(f"There is no page called {', '.join(sorted(unknown))}. Pages: {', '.join(list_pages())}.")
    asyncio.run(run(names))
    print(f"{ALL.relative_to(ROOT)}: {len(list(ALL.glob('*.png')))} pictures")


if __name__ == "__main__":
    main()
