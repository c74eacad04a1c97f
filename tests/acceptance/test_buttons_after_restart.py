"""After kill -9 and a restart, the buttons under earlier messages still work."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from relay.surfaces.telegram.turns.controls import WORKING
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Row:
    """A command, the button to press, and what a person sees then."""

    asked: str
    label: str
    toast: str = ""
    text: str = ""
    """The text of the message after the press."""
    button: str = ""
    """A button under the message after the press."""
    said: str = ""
    """What else the bot says."""
    group: bool = False


ROWS = (
    Row("/memory", "#", text="Fact #", button="‹ Back"),
    Row("/memory changes", "Undo 1", toast="Undone.", text="– undone"),
    Row("/settings", "Silent", toast="Done.", text="answers are silent", button="✓ 🔕 Silent"),
    Row("/sessions", "1", text="It began with you: first words", button="‹ Sessions"),
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
"""Commands that reply without buttons."""


@pytest.fixture(scope="module")
def bot(module_relay: SharedRelay) -> SharedBot:
    return SharedBot(module_relay.tg, module_relay.model, module_relay.relay, module_relay.data)


def here(row: Row, dm: Chat, group: Chat) -> Chat:
    return group if row.group else dm


async def prepared(bot: SharedBot, olga: User, dm: Chat, group: Chat) -> list[StoredMessage]:
    """Fills the chat with content and sends the command of each row."""
    bot.model.rule(None, "A summary of it all.", model="haiku")
    await bot.ask(dm, olga, "/new")
    for fact in ("Ada keeps bees", "Ada sails on Sundays", "Ada paints in blue"):
        await bot.ask(dm, olga, f"/remember {fact}")
    await bot.ask(dm, olga, "first words about a zebra", "I see.")
    await bot.ask(dm, olga, "and more of it", "I hear.")
    await bot.ask(group, olga, f"@{bot.tg.bot.username} hello all", "Hello.")
    shown = [await bot.ask(here(row, dm, group), olga, row.asked) for row in ROWS]
    for text in PLAIN:
        assert not (await bot.ask(dm, olga, text)).buttons
    return shown


async def test_every_button_works_after_a_restart(shared_relay: SharedRelay, bot: SharedBot) -> None:
    olga, ben = bot.tg.user(OWNER), shared_relay.tg.person(shared_relay.guest().id)
    dm, group = bot.tg.dm(olga), bot.group(olga, ben)
    shown = await prepared(bot, olga, dm, group)
    await shared_relay.crash()
    await shared_relay.polled()
    wrong = []
    for row, message in zip(ROWS, shown, strict=True):
        chat = here(row, dm, group)
        last = max(chat.messages)
        try:
            toast = await bot.press(chat, olga, message, row.label)
            if toast not in (row.toast, WORKING):
                wrong.append((row, "toast", toast))
            if row.said:
                await bot.tg.wait_for(
                    lambda row=row, chat=chat, last=last: any(
                        row.said in one.text for one in bot.tg.messages(chat) if one.message_id > last and one.from_bot
                    )
                )
            await bot.tg.wait_for(
                lambda row=row, message=message: (
                    row.text in message.text and any(row.button in label for label in message.buttons or {"": ""})
                )
            )
        except (TimeoutError, StopIteration) as error:
            wrong.append((row, type(error).__name__, message.text, list(message.buttons)))
    assert not wrong
    assert shared_relay.tracebacks() == []
