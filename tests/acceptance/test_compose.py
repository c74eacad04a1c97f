"""/compose, /new with, the prompt of a conversation that began with earlier ones, and /why."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.test_terminal import relay
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION
EVIDENCE = "The gate behind the quince tree is painted vermilion."


def composed_text(request: Recorded) -> str:
    """Returns the composed sessions of a prompt; empty if there are none."""
    texts = [block.get("text", "") for one in request.body["messages"] for block in one["content"]]
    return next((text for text in texts if text.startswith("<composed ")), "")


async def three_sessions(bot: SharedBot, dm: Chat, ada: User) -> None:
    """Makes three ended sessions in the chat itself."""
    for title, words in (("Gates", EVIDENCE), ("Sheds", "The shed leans."), ("Beds", "The beds are raised.")):
        await bot.ask(dm, ada, f"/new {title}")
        await bot.ask(dm, ada, words, "I see.")
    await bot.ask(dm, ada, "/new")


async def choose_all(bot: SharedBot, dm: Chat, ada: User, shown: StoredMessage) -> None:
    """Selects all three sessions and goes on."""
    for title in ("Gates", "Sheds", "Beds"):
        await bot.press(dm, ada, shown, f"☐ {title}")
    await bot.press(dm, ada, shown, "Next (3)")


async def test_a_new_conversation_can_begin_with_a_composition_of_three_sessions(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await three_sessions(bot, dm, ada)
    other, third = bot.tg.topic(dm, "Other", ada), bot.tg.topic(dm, "Third", ada)
    shown = await bot.ask(dm, ada, "/compose garden", topic=other)
    assert "There are no sessions here" in shown.text
    await bot.press(dm, ada, shown, "All conversations")
    await choose_all(bot, dm, ada, shown)
    assert "16,000 tokens (8% of my context), shared equally" in shown.text
    assert shown.text.count("fits in full") == 3
    await bot.press(dm, ada, shown, "Make it")
    assert "garden · ✅ ready" in shown.text
    before = len(bot.tg.messages(dm, other))
    await bot.press(dm, ada, shown, "Begin with it")
    await bot.tg.wait_for(lambda: len(bot.tg.messages(dm, other)) > before)
    begun = bot.tg.messages(dm, other)[-1]
    assert "begins with garden: 3 earlier sessions" in begun.text
    await bot.ask(dm, ada, "What colour has the gate?", "Vermilion.", topic=other)
    text = composed_text(bot.prompt("What colour"))
    assert text.startswith('<composed name="garden">')
    assert text.index(EVIDENCE) < text.index("The shed leans.") < text.index("The beds are raised.")
    assert "‘Gates’, original" in text
    why = await bot.ask(dm, ada, "/why", topic=other)
    assert "began with 3 earlier sessions as “garden”" in why.text
    assert "composed" in why.text.split("Tokens")[1]
    await bot.ask(dm, ada, "/new", topic=other)
    await bot.ask(dm, ada, "And which colour now?", "I don't know.", topic=other)
    assert composed_text(bot.prompt("And which colour")) == ""
    await bot.ask(dm, ada, "/new with Garden", topic=third)
    await bot.ask(dm, ada, "Which colour here?", "Vermilion.", topic=third)
    assert EVIDENCE in composed_text(bot.prompt("Which colour here"))
    assert "begins with garden" in (await bot.ask(dm, ada, "/new with “Garden”", topic=third)).text


async def test_quotation_marks_around_a_compositions_name_are_ignored(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for name in ('"my garden"', "“my garden”", "« my  garden »", "„my garden“", "'my garden'"):
        told = await bot.ask(dm, ada, f"/new with {name}")
        assert "I don't know a composition called “my garden”." in told.text


async def test_a_composition_begins_after_the_answer_that_is_being_written(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await three_sessions(bot, dm, ada)
    shown = await bot.ask(dm, ada, "/compose garden")
    await choose_all(bot, dm, ada, shown)
    await bot.press(dm, ada, shown, "Make it")
    bot.says("How tall are hollyhocks?", Reply("Two metres.", first_delay=2))
    asked = len(bot.prompts("How tall"))
    await bot.tg.say(dm, ada, "How tall are hollyhocks?")
    await bot.tg.wait_for(lambda: len(bot.prompts("How tall")) > asked)
    assert await bot.press(dm, ada, shown, "Begin with it") == ""
    await bot.tg.wait_for(lambda: "begins with garden" in bot.tg.messages(dm)[-1].text)
    told = [one.text for one in bot.tg.messages(dm)][-2:]
    assert told[0].startswith("Two metres."), "the answer stays in its own conversation"
    await bot.ask(dm, ada, "And foxgloves?", "One metre.")
    assert "hollyhocks" not in str(bot.prompt("And foxgloves").body["messages"])


async def test_the_budget_strategy_and_versions_are_chosen_with_buttons(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await three_sessions(bot, dm, ada)
    shown = await bot.ask(dm, ada, "/compose")
    assert "context-1" in shown.text
    await choose_all(bot, dm, ada, shown)
    await bot.press(dm, ada, shown, "4k")
    await bot.press(dm, ada, shown, "Favour recent")
    assert "4,000 tokens (2% of my context), more for recent sessions" in shown.text
    before = len(bot.tg.messages(dm))
    await bot.press(dm, ada, shown, "Other")
    await bot.tg.wait_for(lambda: len(bot.tg.messages(dm)) > before)
    asked = bot.tg.messages(dm)[-1]
    refused = await bot.ask(dm, ada, "seven", reply_to=asked)
    assert "1,000 to 100,000" in refused.text
    shown = await bot.ask(dm, ada, "1k", reply_to=asked)
    assert "1,000 tokens (under 1% of my context)" in shown.text
    await bot.press(dm, ada, shown, "1 ⚙")
    assert "What should I use for it?" in shown.text
    await bot.press(dm, ada, shown, "A new version")
    assert "1. Gates · new, about 8 – will be compressed first" in shown.text
    assert "1 session will be compressed first" in shown.text
    await bot.press(dm, ada, shown, "1 ⚙")
    await bot.press(dm, ada, shown, "All of it")
    assert "1. Gates · original, 16 – as you chose" in shown.text


async def test_compositions_are_listed_shown_downloaded_and_dropped(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "no compositions yet" in (await bot.ask(dm, ada, "/compose list")).text
    await three_sessions(bot, dm, ada)
    shown = await bot.ask(dm, ada, "/compose garden")
    await choose_all(bot, dm, ada, shown)
    await bot.press(dm, ada, shown, "Make it")
    taken = await bot.ask(dm, ada, "/compose Garden")
    await choose_all(bot, dm, ada, taken)
    assert "already a composition called “Garden”" in await bot.press(dm, ada, taken, "Make it")
    listed = await bot.ask(dm, ada, "/compose list")
    assert "1 · garden · ✅ ready" in listed.text
    assert "I don't know a composition called “meadow”" in (await bot.ask(dm, ada, "/new with meadow")).text
    assert "1 · garden · ✅ ready" in (await bot.ask(dm, ada, "/new with")).text
    opened = await bot.ask(dm, ada, "/compose show GARDEN")
    before = len(bot.tg.messages(dm))
    await bot.press(dm, ada, opened, "Download")
    await bot.tg.wait_for(lambda: len(bot.tg.messages(dm)) > before)
    sent = bot.tg.messages(dm)[-1]
    packed = zipfile.ZipFile(io.BytesIO(bot.tg.files[sent.raw["document"]["file_id"]].upload.data))
    assert packed.namelist() == ["composed.md", "composed.jsonl", "composition.json"]
    assert sent.raw["document"]["file_name"] == "garden.zip"
    assert "**user** (" in packed.read("composed.md").decode()
    assert EVIDENCE in packed.read("composed.md").decode()
    lines = [json.loads(line) for line in packed.read("composed.jsonl").decode().splitlines()]
    assert [lines[0]["name"], lines[1]["role"], lines[2]["text"]] == ["garden", "heading", EVIDENCE]
    assert [part["version"] for part in json.loads(packed.read("composition.json"))["parts"]] == ["original"] * 3
    assert "confirm" not in json.loads(packed.read("composition.json"))
    asked = await bot.ask(dm, ada, "/compose drop garden")
    assert "Drop garden?" in asked.text
    await bot.press(dm, ada, asked, "Drop it")
    assert "Dropped garden" in asked.text
    assert "That composition is gone" in await bot.press(dm, ada, opened, "Begin with it")


@pytest.mark.slow("test_command_surfaces.py")
async def test_compositions_can_be_managed_in_the_shell(bot: SharedBot, tmp_path: Path) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await three_sessions(bot, dm, olga)
    shown = await bot.ask(dm, olga, "/compose")
    found = {name.split()[1]: data.split(":")[2] for name, data in shown.buttons.items() if name.startswith("☐")}
    gates, sheds = f"#{found['Gates']}", f"#{found['Sheds']}"

    async def shell(*words: str, fails: bool = False) -> Any:
        code, printed = await relay(bot.relay.environment, tmp_path, "compose", *words)
        assert (code != 0) == fails, printed
        return json.loads(printed) if "--json" in words and not fails else printed

    here = ("--chat", str(OWNER))
    refused = await shell("new", "yard", "--session", gates, "--budget", "12", *here, fails=True)
    assert "from 1,000 to 100,000" in refused
    assert "has no version called v9" in await shell("new", "yard", "--session", f"{gates}=v9", *here, fails=True)
    assert "isn't a session" in await shell("new", "yard", "--session", "one", *here, fails=True)
    made = await shell("new", "yard", "--session", f"{sheds}=original", "--session", f"{gates}@900", *here, "--json")
    assert (made["name"], made["status"], [part["title"] for part in made["parts"]]) == (
        "yard", "ready", ["Gates", "Sheds"],
    )  # fmt: skip
    assert "already a composition" in await shell("new", "Yard", "--session", gates, *here, fails=True)
    assert [one["name"] for one in (await shell("list", "--json"))["compositions"]] == ["yard"]
    assert "yard · ready · 2 sessions" in await shell("list")
    assert "1. Gates · original" in await shell("show", "YARD")
    assert EVIDENCE in [row["text"] for row in (await shell("show", "yard", "--json"))["rows"]]
    await shell("export", "yard", str(tmp_path / "yard.zip"))
    assert "composed.md" in zipfile.ZipFile(tmp_path / "yard.zip").namelist()
    assert "begins with yard: 2 earlier sessions" in await shell("use", "yard", *here)
    await bot.ask(dm, olga, "Which colour is the gate?", "Vermilion.")
    assert EVIDENCE in composed_text(bot.prompt("Which colour is the gate"))
    code, printed = await relay(bot.relay.environment, tmp_path, "new", "with yard")
    assert code == 0, printed
    assert "begins with yard" in printed
    assert "Add --yes" in await shell("drop", "yard", fails=True)
    assert (await shell("drop", "yard", "--yes", "--json"))["name"] == "yard"


async def test_a_session_page_opens_a_composition_with_that_session(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await three_sessions(bot, dm, ada)
    listed = await bot.ask(dm, ada, "/sessions")
    await bot.press(dm, ada, listed, "3")
    await bot.tg.wait_for(lambda: "Use in…" in listed.buttons)
    before = len(bot.tg.messages(dm))
    await bot.press(dm, ada, listed, "Use in…")
    await bot.tg.wait_for(lambda: len(bot.tg.messages(dm)) > before)
    draft = bot.tg.messages(dm)[-1]
    assert "fits in full" in draft.text
    assert any("Make it" in one for one in draft.buttons)
