"""kill -9, and started again: the buttons under what was shown before still do what they say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from relay.surfaces.telegram.turns.controls import WORKING
from tests.acceptance.harness import OWNER
from tests.acceptance.house import House
from tests.acceptance.town import Town
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Row:
    """What is asked, which button is pressed, and what a person sees of it then."""

    asked: str
    label: str
    toast: str = ""
    text: str = ""
    """What the message says then."""
    button: str = ""
    """What hangs under it then."""
    said: str = ""
    """What the bot says besides."""
    group: bool = False


ROWS = (
    Row("/memory", "#", text="Fact #", button="‹ Back"),
    Row("/memory changes", "Undo 1", toast="Undone.", text="– undone"),
    Row("/settings", "Silent", toast="Done.", text="answers are silent", button="✓ 🔕 Silent"),
    Row("/sessions", "1", text="It began: you: first words", button="‹ Sessions"),
    Row("/soul history", "View 1", said="Soul, version 1"),
    Row("/why", "Ada keeps bees", toast="Forgotten.", text="(forgotten since)", said="Forgot: Ada keeps bees"),
    Row("/search zebra", "1", text="zebra", button="‹ Back to the results"),
    Row("/summary", "Write one now", text="Summary, version 1", button="✎ Correct"),
    Row("/summary", "Write one now", "There's nothing new to summarise yet.", "Summary, version 1", "History"),
    Row("/persona A pirate", "Clear", said="Cleared", group=True),
    Row("/answer", "Off", toast="Off.", text="nothing; only my admins", button="✓ Off", group=True),
    Row("/link", "Lend my memory here", toast="Lent.", text="Your memory is lent", button="Unlink", group=True),
)
PLAIN = ("/usage",)
"""What is told without buttons."""


@pytest.fixture(scope="module")
def town(shared: House) -> Town:
    return Town(shared.tg, shared.model, shared.relay, shared.data)


def here(row: Row, dm: Chat, group: Chat) -> Chat:
    return group if row.group else dm


async def prepared(town: Town, olga: User, dm: Chat, group: Chat) -> list[StoredMessage]:
    """Something to look at, and what each row asks for."""
    town.model.rule(None, "A summary of it all.", model="haiku")
    await town.ask(dm, olga, "/new")
    for fact in ("Ada keeps bees", "Ada sails on Sundays", "Ada paints in blue"):
        await town.ask(dm, olga, f"/remember {fact}")
    await town.ask(dm, olga, "first words about a zebra", "I see.")
    await town.ask(dm, olga, "and more of it", "I hear.")
    await town.ask(group, olga, f"@{town.tg.bot.username} hello all", "Hello.")
    shown = [await town.ask(here(row, dm, group), olga, row.asked) for row in ROWS]
    for text in PLAIN:
        assert not (await town.ask(dm, olga, text)).buttons
    return shown


async def test_each_button_works_after_a_restart(house: House, town: Town) -> None:
    olga, ben = town.tg.user(OWNER), house.tg.person(house.guest().id)
    dm, group = town.tg.dm(olga), town.group(olga, ben)
    shown = await prepared(town, olga, dm, group)
    await house.crash()
    await house.polled()
    wrong = []
    for row, message in zip(ROWS, shown, strict=True):
        chat = here(row, dm, group)
        last = max(chat.messages)
        try:
            toast = await town.press(chat, olga, message, row.label)
            if toast not in (row.toast, WORKING):
                wrong.append((row, "toast", toast))
            if row.said:
                await town.tg.wait_for(
                    lambda row=row, chat=chat, last=last: any(
                        row.said in one.text for one in town.tg.messages(chat) if one.message_id > last and one.from_bot
                    )
                )
            await town.tg.wait_for(
                lambda row=row, message=message: (
                    row.text in message.text and any(row.button in label for label in message.buttons or {"": ""})
                )
            )
        except (TimeoutError, StopIteration) as error:
            wrong.append((row, type(error).__name__, message.text, list(message.buttons)))
    assert not wrong
    assert house.tracebacks() == []
