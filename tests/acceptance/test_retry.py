"""/retry with a model: big, small, a family's name, or, for admins, any full name."""

from __future__ import annotations

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import Recorded
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION
BIG, SMALL, OTHER = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"


def named(request: Recorded) -> str:
    """Answers with the model's name."""
    return f"I am {request.model}."


async def retry(bot: SharedBot, chat: Chat, user: User, command: str) -> StoredMessage:
    said = await bot.tg.say(chat, user, command)
    return await bot.tg.wait_reply(chat, said)


def models(bot: SharedBot, chat: Chat) -> list[str]:
    """Returns the recorded model of each turn of a chat."""
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    asked = "select model from relay.turn where kind = 'message' and user_id = %s and model is not null order by id"
    return [model for (model,) in shared_relay.sql(asked, chat.id)]


async def test_retry_can_use_the_big_or_the_small_model(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for model in ("haiku", "sonnet"):
        bot.model.rule(None, named, model=model)
    assert (await bot.ask(dm, ada, "who are you?")).text == f"I am {BIG}."
    small = f"I am {SMALL}.\n\nWritten by {SMALL}"
    for command, expected in (
        ("/retry", f"I am {BIG}."),
        ("/retry small", small),
        ("/retry  Haiku", small),
        (f"/retry {SMALL}", small),
        ("/retry big", f"I am {BIG}."),
        ("/retry sonnet", f"I am {BIG}."),
    ):
        assert (await retry(bot, dm, ada, command)).text == expected
    assert models(bot, dm) == [BIG, BIG, SMALL, SMALL, SMALL, BIG, BIG]
    await bot.ask(dm, ada, "and now?")
    history = str(bot.model.last.messages)
    assert history.count("who are you?") == 1
    assert "Written by" not in history


async def test_only_admins_may_retry_with_other_models(bot: SharedBot) -> None:
    ada, dm = bot.person()
    olga = bot.tg.user(OWNER)
    own = bot.tg.dm(olga)
    bot.model.rule(None, named)
    for chat, user in ((dm, ada), (own, olga)):
        await bot.ask(chat, user, "who are you then?")
    asked = bot.asked
    for word in (OTHER, "opus", "something else", "_*[x](y)*_", "claude", "9" * 300):
        told = (await retry(bot, dm, ada, f"/retry {word}")).text
        assert told == f"Write /retry, /retry big ({BIG}), /retry small ({SMALL})."
    assert "the full name of any model" in (await retry(bot, own, olga, "/retry opus")).text
    assert bot.asked == asked
    assert (await retry(bot, own, olga, f"/retry {OTHER}")).text == f"I am {OTHER}.\n\nWritten by {OTHER}"


async def test_a_retry_with_an_unknown_model_is_reported_and_can_be_repeated(bot: SharedBot) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await bot.ask(dm, olga, "who am I?", "Olga.")
    bot.model.fault("404", match="who am I?")
    refused = await retry(bot, dm, olga, "/retry claude-none-9")
    assert "does not know this model" in refused.text
    bot.tg.press(dm, olga, refused, refused.buttons["↻ Retry"])
    assert (await bot.tg.wait_reply(dm, refused)).text == "You said: who am I?"


async def test_a_retry_without_a_question_is_refused_for_any_model(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "nothing to answer again" in (await retry(bot, dm, ada, "/retry small")).text
