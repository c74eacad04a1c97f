"""/retry with a model: big, small, a family's name, or any full name for those who run the bot."""

from __future__ import annotations

from tests.acceptance.harness import OWNER
from tests.acceptance.house import House
from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import Recorded
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION
BIG, SMALL, OTHER = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"


def named(request: Recorded) -> str:
    """The model says who it is."""
    return f"I am {request.model}."


async def retry(town: Town, chat: Chat, user: User, command: str) -> StoredMessage:
    said = await town.tg.say(chat, user, command)
    return await town.tg.wait_reply(chat, said)


def models(town: Town, chat: Chat) -> list[str]:
    """Which model answered each turn of a chat, as it is recorded."""
    house = House(town.tg, town.model, town.relay, town.data)
    asked = "select model from relay.turn where kind = 'message' and user_id = %s and model is not null order by id"
    return [model for (model,) in house.sql(asked, chat.id)]


async def test_retry_with_the_big_and_the_small_model(town: Town) -> None:
    ada, dm = town.person()
    for model in ("haiku", "sonnet"):
        town.model.rule(None, named, model=model)
    assert (await town.ask(dm, ada, "who are you?")).text == f"I am {BIG}."
    small = f"I am {SMALL}.\n\nWritten by {SMALL}"
    for command, expected in (
        ("/retry", f"I am {BIG}."),
        ("/retry small", small),
        ("/retry  Haiku", small),
        (f"/retry {SMALL}", small),
        ("/retry big", f"I am {BIG}."),
        ("/retry sonnet", f"I am {BIG}."),
    ):
        assert (await retry(town, dm, ada, command)).text == expected
    assert models(town, dm) == [BIG, BIG, SMALL, SMALL, SMALL, BIG, BIG]
    await town.ask(dm, ada, "and now?")
    history = str(town.model.last.messages)
    assert history.count("who are you?") == 1
    assert "Written by" not in history


async def test_other_models_are_for_those_who_run_the_bot(town: Town) -> None:
    ada, dm = town.person()
    olga = town.tg.user(OWNER)
    own = town.tg.dm(olga)
    town.model.rule(None, named)
    for chat, user in ((dm, ada), (own, olga)):
        await town.ask(chat, user, "who are you then?")
    asked = town.asked
    for word in (OTHER, "opus", "something else", "_*[x](y)*_", "claude", "9" * 300):
        told = (await retry(town, dm, ada, f"/retry {word}")).text
        assert told == f"Write /retry, /retry big ({BIG}), /retry small ({SMALL})."
    assert "the full name of any model" in (await retry(town, own, olga, "/retry opus")).text
    assert town.asked == asked
    assert (await retry(town, own, olga, f"/retry {OTHER}")).text == f"I am {OTHER}.\n\nWritten by {OTHER}"


async def test_a_model_that_is_not_known_is_said_and_can_be_retried(town: Town) -> None:
    olga = town.tg.user(OWNER)
    dm = town.tg.dm(olga)
    await town.ask(dm, olga, "who am I?", "Olga.")
    town.model.fault("404", match="who am I?")
    refused = await retry(town, dm, olga, "/retry claude-none-9")
    assert "does not know this model" in refused.text
    town.tg.press(dm, olga, refused, refused.buttons["↻ Retry"])
    assert (await town.tg.wait_reply(dm, refused)).text == "You said: who am I?"


async def test_nothing_to_retry_is_said_whatever_the_model(town: Town) -> None:
    ada, dm = town.person()
    assert "nothing to answer again" in (await retry(town, dm, ada, "/retry small")).text
