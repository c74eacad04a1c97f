"""The conversation in the README's picture, held with a real Relay between the stand-ins. Only the model's words are
written here. `docs/conversation.json` holds the messages in Telegram as they were when the picture was made."""

from __future__ import annotations

from typing import Any

from tests.standins.anthropic import AnthropicStandIn, Recorded
from tests.standins.telegram import Chat, StoredMessage, TelegramStandIn, User

Json = dict[str, Any]

FIRST = "My daughter Mia turns six on Saturday. She is allergic to walnuts. Which cake can I bake?"
CAKE = """\
Happy birthday to Mia! A **lemon yoghurt cake** has no nuts at all:

1. Whisk 3 eggs with 150 g of sugar
2. Stir in 250 g of yoghurt, the zest of a lemon and 200 g of flour with baking powder
3. Bake for 45 minutes at 170 °C

Look at the flour and the sprinkles too: *“may contain nuts”* means no.
[LEARN: Has a daughter, Mia, who is allergic to walnuts]"""
LATER = "We are going out for ice cream with Mia. What do I say at the counter?"
COUNTER = """\
Ask for a clean scoop, because of her **walnut allergy**. In words:

> One of the children must not have walnuts. Could you take a clean scoop, please?

Fruit sorbets are the safest choice."""


def remembers(request: Recorded) -> bool:
    """Whether the model is asked the second question and its prompt holds the memory that the answer needs."""
    return LATER in request.last_text and "- Has a daughter, Mia, who is allergic to walnuts" in request.system_text


async def conversation(tg: TelegramStandIn, model: AnthropicStandIn, user: User, chat: Chat) -> list[Json]:
    """Holds the conversation in an empty private chat and returns its messages in Telegram."""

    async def ask(text: str) -> StoredMessage:
        return await tg.wait_reply(chat, await tg.say(chat, user, text))

    model.rule(FIRST, CAKE)
    model.rule(remembers, COUNTER)
    taught = await ask(FIRST)
    await tg.wait_for(lambda: taught.buttons)
    tg.press(chat, user, taught, next(iter(taught.buttons.values())))
    await tg.wait_for(lambda: len(taught.buttons) > 2)
    for text in ("/new", LATER, "/memory"):
        await ask(text)
    return [shown(message) for message in tg.messages(chat)]


def shown(message: StoredMessage) -> Json:
    """Returns a message as people see it: its author, its formatting, and the labels of its buttons by row."""
    rows = (message.reply_markup or {}).get("inline_keyboard", [])
    return {
        "who": "Relay" if message.from_bot else "Ada",
        "text": message.text,
        "entities": message.entities,
        "buttons": [[button["text"] for button in row] for row in rows],
    }
