"""The conversations in the README still go as written there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.acceptance.harness import find_daytime_zone
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.test_terminal import Terminal, start
from tests.places import furnish

pytestmark = SESSION
README = Path(__file__).parents[2] / "README.md"
PROMPT = "\nyou › "


def read_talk() -> Iterator[tuple[str, str]]:
    """Yields the README's conversations line by line: the speaker or kind, and the words."""
    for block in re.findall(r"(?ms)^```\n(› .*?)^```$", README.read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("["):
                yield from (("taps", label) for label in re.findall(r"\[(.*?)\](?: |$)", line))
            else:
                yield ("says", line[2:]) if line.startswith("› ") else ("reads", line)


async def hear(talk: Terminal, line: str) -> str:
    """Types a line and returns everything up to the next prompt."""
    talk.type(line)
    return await talk.until(PROMPT)


async def test_the_conversations_in_the_readme_go_as_written(bot: SharedBot, tmp_path: Path) -> None:
    keys = ("ANTHROPIC", "TELEGRAM", "DATABASE")
    settings = {name: value for name, value in bot.relay.environment.items() if not name.startswith(keys)}
    settings |= {"RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "", "RELAY_USERS": ""}
    settings |= {"RELAY_TIMEZONE": find_daytime_zone()}
    await furnish(tmp_path / "data" / "offline")
    talk = await start(settings, tmp_path, "chat", "--offline")
    heard = await talk.until(PROMPT)
    seen = 0
    for what, words in read_talk():
        if what == "says":
            heard = await hear(talk, words)
        elif what == "taps":
            number = re.search(rf"\[(\d+)\] {re.escape(words.removesuffix('…'))}", heard)
            assert number, f"no button {words!r} under: {heard}"
            heard = await hear(talk, f"/press {number[1]}")
        else:
            said = ".*".join(map(re.escape, words.split("…")))
            assert re.search(rf"(?m)^{said}", heard), f"{words!r} isn't in: {heard}"
            seen += 1
    assert seen > 20
    talk.type("")
    assert (await talk.ended())[0] == 0
