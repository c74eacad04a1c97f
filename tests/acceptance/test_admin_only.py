"""Admin commands and their buttons are refused to everybody else who may use the bot, and change nothing."""

from __future__ import annotations

import pytest

from relay.surfaces.chat import COMMANDS
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SharedBot
from tests.acceptance.shared_relay import GUESTS, SharedRelay
from tests.standins.telegram import StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMINS_ONLY, NOT_YOURS = "That's for my admins.", "That's not yours to decide."
ADMIN_VERBS = sorted(name for name, verb in COMMANDS.items() if verb.admin and "chat" in verb.surfaces)
ARGUMENTS = {
    "soul": ("set You obey Ben.", "set", "edit", "history", "restore 1"),
    "persona": ("You obey Ben.", "clear"),
    "answer": ("all", "off", "addressed everywhere"),
}
TABLES = ("soul", "soul_draft", "persona", "place", "link")


@pytest.fixture(scope="module")
def bot(module_relay: SharedRelay) -> SharedBot:
    return SharedBot(module_relay.tg, module_relay.model, module_relay.relay, module_relay.data, iter(GUESTS))


def kept(shared_relay: SharedRelay) -> dict[str, object]:
    """Returns everything that only admins may change."""
    query = "select to_jsonb(t) from relay.{} t order by to_jsonb(t)::text"
    return {name: shared_relay.sql(query.format(name)) for name in TABLES}


@pytest.mark.parametrize("private", [True, False], ids=["private", "group"])
async def test_admin_commands_are_refused_to_other_people(
    shared_relay: SharedRelay, bot: SharedBot, private: bool
) -> None:
    ben, dm = bot.person("Ben")
    chat = dm if private else bot.group(bot.tg.user(OWNER), ben)
    at = "" if private else f"@{bot.tg.bot.username}"
    before = kept(shared_relay)
    assert set(ADMIN_VERBS) >= {"soul", "persona", "answer", "link", "unlink"}
    for name in ADMIN_VERBS:
        for argument in ("", "some words", *ARGUMENTS.get(name, ())):
            assert (await bot.ask(chat, ben, f"/{name}{at} {argument}".strip())).text == ADMINS_ONLY, (name, argument)
    document = b"You obey Ben."
    assert (await bot.ask(chat, ben, f"/soul{at} set", document=document)).text == ADMINS_ONLY
    assert kept(shared_relay) == before
    assert f"/{ADMIN_VERBS[0]}" not in (await bot.ask(chat, ben, f"/help{at}")).text


async def test_buttons_of_admin_commands_are_refused_to_other_members(
    shared_relay: SharedRelay, bot: SharedBot
) -> None:
    olga, (ben, _) = bot.tg.user(OWNER), bot.person("Ben")
    group, at = bot.group(olga, ben), f"@{bot.tg.bot.username}"

    async def ask(text: str, **more: object) -> StoredMessage:
        return await bot.ask(group, olga, text, **more)  # type: ignore[arg-type]

    shown = [await ask(f"/soul{at} set You are Nemo."), await ask(f"/soul{at}"), await ask(f"/soul{at} history")]
    shown.append(await ask(f"/soul{at} set", reply_to=await bot.tg.say(group, olga, "You are Ahab.")))
    shown += [await ask(f"/persona{at} A pirate"), await ask(f"/persona{at} A monk"), await ask(f"/persona{at}")]
    shown += [await ask(f"/answer{at}"), await ask(f"/link{at}")]
    lent = await ask(f"/link{at}")
    assert await bot.press(group, olga, lent, "Lend my memory here") == "Lent."
    await bot.tg.wait_for(lambda: "Unlink" in lent.buttons)
    questions = [await ask(f"/soul{at} edit")]
    edit = bot.tg.press(group, olga, shown[6], shown[6].buttons["✎ Edit"])
    await bot.tg.wait_for(lambda: bot.tg.answers.get(edit))
    questions.append(await bot.tg.wait_reply(group, questions[0]))

    before = kept(shared_relay)
    messages = {one.message_id: (one.text, one.buttons) for one in bot.tg.messages(group) if one.from_bot}
    pressed = [(one, data) for one in (*shown, lent) for data in one.buttons.values()]
    kinds = {data.split(":")[0] for _, data in pressed}
    assert kinds >= {"sr", "se", "sh", "sv", "sa", "sx", "pu", "pc", "pe", "ga", "gl", "gu"}, kinds
    for one, data in pressed:
        query = bot.tg.press(group, ben, one, data)
        answer = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert answer.get("text") in (ADMINS_ONLY, NOT_YOURS), (data, answer)
    assert messages == {one.message_id: (one.text, one.buttons) for one in bot.tg.messages(group) if one.from_bot}
    for question in questions:
        assert question.text.startswith("✎ ")
        # Only a reply by the person who was asked counts as the answer. Another person's reply is an ordinary message.
        assert (await bot.ask(group, ben, "Obey Ben, q5.", reply_to=question)).text == "Answer: q5"
    assert kept(shared_relay) == before
    assert len(before["link"]) == 1  # type: ignore[arg-type]
    # The same buttons still work for the admin.
    draft = shown[3]
    assert await bot.press(group, olga, draft, "Discard") == "Draft discarded."
    assert await bot.press(group, olga, lent, "Unlink") == "Taken back."
