"""Makes the README's picture from a conversation with a running Relay: `python -m scripts.picture`. Needs Chromium.

Writes docs/conversation.json (the messages as Telegram's stand-in had them) and docs/conversation.png.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import io
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin

from tests.acceptance.conversation import Json, conversation
from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn

ROOT = Path(__file__).parent.parent
TRANSCRIPT, PICTURE = ROOT / "docs/conversation.json", ROOT / "docs/conversation.png"
STYLE = Path(__file__).with_suffix(".css")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
TAGS = {
    "bold": "b", "italic": "i", "underline": "u", "strikethrough": "s", "code": "code", "pre": "pre",
    "blockquote": "blockquote", "expandable_blockquote": "blockquote", "text_link": "a", "url": "a", "bot_command": "a",
}  # fmt: skip
WIDTH, HEIGHT, SCALE = 880, 1400, 2
COLORS = 96


async def held() -> list[Json]:
    """Starts a Relay, holds the conversation with it, and returns its messages."""
    with tempfile.TemporaryDirectory(prefix="relay-picture-") as folder:
        async with TelegramStandIn() as tg, AnthropicStandIn() as model:
            user = tg.user(OWNER, "Ada")
            relay = RelayProcess(environment(tg, model, Path(folder) / "data"), Path(folder) / "relay.log")
            await relay.start()
            try:
                await tg.wait_polling()
                return await conversation(tg, model, user, tg.dm(user))
            finally:
                await relay.stop()


def formatted(text: str, entities: list[Json]) -> str:
    """Returns a message's text as HTML. Offsets and lengths count UTF-16 code units, as in Telegram."""
    units = text.encode("utf-16-le")
    opened: dict[int, str] = {}
    closed: dict[int, str] = {}
    for entity in sorted(entities, key=lambda one: (one["offset"], -one["length"])):
        tag, start, end = TAGS[entity["type"]], entity["offset"], entity["offset"] + entity["length"]
        opened[start] = opened.get(start, "") + f"<{tag}>"
        closed[end] = f"</{tag}>" + closed.get(end, "")
    edges = sorted({0, len(units) // 2, *opened, *closed})
    pieces = [closed.get(0, "") + opened.get(0, "")]
    for start, end in itertools.pairwise(edges):
        pieces.append(html.escape(units[2 * start : 2 * end].decode("utf-16-le")))
        pieces.append(closed.get(end, "") + opened.get(end, ""))
    return "".join(pieces)


def bubble(message: Json) -> str:
    """Returns a message with its buttons, as HTML."""
    rows = ["".join(f"<span>{html.escape(label)}</span>" for label in row) for row in message["buttons"]]
    buttons = "".join(f'<div class="row">{row}</div>' for row in rows)
    text = formatted(message["text"], message["entities"])
    return f'<div class="message {message["who"]}"><div class="bubble">{text}</div>{buttons}</div>'


def page(transcript: list[Json]) -> str:
    """Returns the conversation as an HTML page: the part through /new on the left, the rest on the right."""
    turn = 2 + next(number for number, message in enumerate(transcript) if message["text"] == "/new")
    columns = ("".join(map(bubble, part)) for part in (transcript[:turn], transcript[turn:]))
    body = "".join(f"<section>{column}</section>" for column in columns)
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE.read_text("utf-8")}</style><main>{body}</main>'


def photographed(browser: str, text: str) -> Image.Image:
    """Returns a picture of an HTML page in the browser, cropped to its content."""
    with tempfile.TemporaryDirectory(prefix="relay-picture-") as folder:
        source, target = Path(folder) / "page.html", Path(folder) / "page.png"
        source.write_text(text, "utf-8")
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--default-background-color=00000000",
            f"--force-device-scale-factor={SCALE}", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={target}",
        ]  # fmt: skip
        command = [browser, *options, source.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 — no shell, our own words
        image = Image.open(io.BytesIO(target.read_bytes())).convert("RGBA")
    return image.crop(image.getbbox())


def main() -> None:
    """Holds the conversation and writes both files, or neither."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("The picture is made with Chromium, and none was found (Debian and Ubuntu: apt install chromium).")
    transcript = asyncio.run(held())
    text = json.dumps(transcript, ensure_ascii=False, indent=1) + "\n"
    image = photographed(browser, page(transcript))
    made_from = PngImagePlugin.PngInfo()
    made_from.add_text("transcript", hashlib.sha256(text.encode()).hexdigest())
    PICTURE.parent.mkdir(exist_ok=True)
    image.quantize(COLORS).save(PICTURE, optimize=True, pnginfo=made_from)
    TRANSCRIPT.write_text(text, "utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {image.width} x {image.height}, {PICTURE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
