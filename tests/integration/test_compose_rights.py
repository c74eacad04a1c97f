"""Tests compositions in a group: everyone sees and uses them; only people who may switch its memory change them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from relay.core.models import ModelRequest
from tests.integration.conftest import Server
from tests.integration.inside import Inside, Json, inside
from tests.integration.turn_driver import ADA, BEN, EVE, GROUP
from tests.standins.telegram.values import Chat, StoredMessage

BOT = "@relay_test_bot"
SAID = "The gate is painted vermilion."


class PromptRecorder:
    """Records the requests to the model."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, request: ModelRequest) -> list[Json]:
        self.prompts.append(str(request.messages[0]))
        return [{"type": "text", "text": "I see."}]


@pytest.fixture
def asked() -> PromptRecorder:
    return PromptRecorder()


@pytest.fixture
async def relay(embedded: Server, asked: PromptRecorder) -> AsyncIterator[Inside]:
    async with inside(embedded, asked, frozenset([EVE]), frozenset([ADA, BEN])) as opened:
        for number, name in ((ADA, "Ada"), (BEN, "Ben"), (EVE, "Eve")):
            opened.tg.user(number, name)
        yield opened


async def say(relay: Inside, chat: Chat, user: int, text: str) -> StoredMessage:
    """Sends a message to the bot, and returns the bot's last message."""
    await relay.tg.say(chat, user, text)
    await relay.settled()
    return [message for message in relay.tg.messages(chat) if message.from_bot][-1]


async def press(relay: Inside, chat: Chat, user: int, under: StoredMessage, label: str) -> str:
    """Presses a button, and returns the text that pops up."""
    said = await relay.tg.tap(chat, user, under, label)
    await relay.settled()
    return said


async def test_group_members_use_compositions_and_only_admins_change_them(relay: Inside, asked: PromptRecorder) -> None:
    garden = relay.tg.group(GROUP, "Garden", [ADA, BEN, EVE])
    await say(relay, garden, ADA, f"{BOT} {SAID}")
    await say(relay, garden, ADA, f"/new{BOT}")
    assert "for my admins" in (await say(relay, garden, ADA, f"/compose{BOT} paints")).text
    draft = await say(relay, garden, EVE, f"/compose{BOT} paints")
    label = next(name for name in draft.buttons if name.startswith("☐"))
    assert "no longer know" in await press(relay, garden, BEN, draft, label), "only its author may use a draft"
    await press(relay, garden, EVE, draft, label)
    await press(relay, garden, EVE, draft, "Next")
    await press(relay, garden, EVE, draft, "Make it")
    assert "paints · ✅ ready" in draft.text
    shown = await say(relay, garden, BEN, f"/compose{BOT} show paints")
    assert "paints · ✅ ready" in shown.text
    for label in ("Make it again", "Change"):
        assert "for my admins" in await press(relay, garden, BEN, shown, label)
    assert "for my admins" in await press(relay, garden, BEN, shown, "Drop"), "there must be no confirmation question"
    assert "paints · ✅ ready" in shown.text
    assert "begins with paints" in (await say(relay, garden, BEN, f"/new{BOT} with paints")).text
    await say(relay, garden, BEN, f"{BOT} which colour?")
    assert '<composed name="paints">' in asked.prompts[-1]
    assert SAID in asked.prompts[-1]


async def test_an_off_the_record_session_survives_an_unusable_composition(relay: Inside) -> None:
    garden = relay.tg.group(GROUP, "Garden", [ADA, BEN, EVE])
    await say(relay, garden, ADA, f"{BOT} {SAID}")
    await say(relay, garden, ADA, f"/new{BOT}")
    draft = await say(relay, garden, EVE, f"/compose{BOT} paints")
    await press(relay, garden, EVE, draft, "☐")
    await press(relay, garden, EVE, draft, "Next")
    await press(relay, garden, EVE, draft, "Make it")
    await relay.sql("update relay.composition set status = 'making'")
    await say(relay, garden, EVE, f"/private{BOT}")
    await relay.sql("update relay.session set begun_by = %s where private", BEN)  # he was an admin earlier
    await say(relay, garden, BEN, f"{BOT} between us")
    assert "isn't ready yet" in (await say(relay, garden, BEN, f"/new{BOT} with paints")).text
    assert await relay.sql("select count(*) from relay.message where text like '%between us%'") == [(1,)]
    await relay.sql("update relay.composition set status = 'ready'")
    begun = (await say(relay, garden, BEN, f"/new{BOT} with paints")).text
    assert "I've erased what was off the record." in begun
    assert await relay.sql("select count(*) from relay.message where text like '%between us%'") == [(0,)]


async def test_a_private_composition_is_not_available_in_a_group(relay: Inside) -> None:
    dm = relay.tg.dm(relay.tg.user(ADA))
    garden = relay.tg.group(GROUP, "Garden", [ADA, BEN])
    await say(relay, dm, ADA, SAID)
    draft = await say(relay, dm, ADA, "/compose secret")
    await press(relay, dm, ADA, draft, "☐")
    await press(relay, dm, ADA, draft, "Next")
    await press(relay, dm, ADA, draft, "Make it")
    assert "secret · ✅ ready" in draft.text
    assert "no compositions yet" in (await say(relay, garden, ADA, f"/compose{BOT} list")).text
    assert "I don't know a composition" in (await say(relay, garden, ADA, f"/new{BOT} with secret")).text
