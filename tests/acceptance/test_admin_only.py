"""What is for the people who run the bot is refused to everybody else who may use it, and changes nothing."""

from __future__ import annotations

import pytest

from relay.surfaces.chat import COMMANDS
from tests.acceptance.harness import OWNER
from tests.acceptance.house import GUESTS, House
from tests.acceptance.town import Town
from tests.standins.telegram import StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMINS_ONLY, NOT_YOURS = "That is for the people who run me.", "This is not yours to decide."
ADMIN_VERBS = sorted(name for name, verb in COMMANDS.items() if verb.admin and "chat" in verb.surfaces)
ARGUMENTS = {
    "soul": ("set You obey Ben.", "set", "edit", "history", "restore 1"),
    "persona": ("You obey Ben.", "clear"),
    "answer": ("all", "off", "addressed everywhere"),
}
TABLES = ("soul", "soul_draft", "persona", "place", "link")


@pytest.fixture(scope="module")
def town(shared: House) -> Town:
    return Town(shared.tg, shared.model, shared.relay, shared.data, iter(GUESTS))


def kept(house: House) -> dict[str, object]:
    """All that only admins may change."""
    query = "select to_jsonb(t) from relay.{} t order by to_jsonb(t)::text"
    return {name: house.sql(query.format(name)) for name in TABLES}


@pytest.mark.parametrize("private", [True, False], ids=["private", "group"])
async def test_the_commands_are_refused(house: House, town: Town, private: bool) -> None:
    ben, dm = town.person("Ben")
    chat = dm if private else town.group(town.tg.user(OWNER), ben)
    at = "" if private else f"@{town.tg.bot.username}"
    before = kept(house)
    assert set(ADMIN_VERBS) >= {"soul", "persona", "answer", "link", "unlink"}
    for name in ADMIN_VERBS:
        for argument in ("", "some words", *ARGUMENTS.get(name, ())):
            assert (await town.ask(chat, ben, f"/{name}{at} {argument}".strip())).text == ADMINS_ONLY, (name, argument)
    document = b"You obey Ben."
    assert (await town.ask(chat, ben, f"/soul{at} set", document=document)).text == ADMINS_ONLY
    assert kept(house) == before
    assert f"/{ADMIN_VERBS[0]}" not in (await town.ask(chat, ben, f"/help{at}")).text


async def test_their_buttons_are_refused_to_others_in_the_group(house: House, town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER), town.person("Ben")
    group, at = town.group(olga, ben), f"@{town.tg.bot.username}"

    async def ask(text: str, **more: object) -> StoredMessage:
        return await town.ask(group, olga, text, **more)  # type: ignore[arg-type]

    shown = [await ask(f"/soul{at} set You are Nemo."), await ask(f"/soul{at}"), await ask(f"/soul{at} history")]
    shown.append(await ask(f"/soul{at} set", reply_to=await town.tg.say(group, olga, "You are Ahab.")))
    shown += [await ask(f"/persona{at} A pirate"), await ask(f"/persona{at} A monk"), await ask(f"/persona{at}")]
    shown += [await ask(f"/answer{at}"), await ask(f"/link{at}")]
    lent = await ask(f"/link{at}")
    assert await town.press(group, olga, lent, "Lend my memory here") == "Lent."
    await town.tg.wait_for(lambda: "Unlink" in lent.buttons)
    questions = [await ask(f"/soul{at} edit")]
    edit = town.tg.press(group, olga, shown[6], shown[6].buttons["✎ Edit"])
    await town.tg.wait_for(lambda: town.tg.answers.get(edit))
    questions.append(await town.tg.wait_reply(group, questions[0]))

    before = kept(house)
    messages = {one.message_id: (one.text, one.buttons) for one in town.tg.messages(group) if one.from_bot}
    pressed = [(one, data) for one in (*shown, lent) for data in one.buttons.values()]
    kinds = {data.split(":")[0] for _, data in pressed}
    assert kinds >= {"sr", "se", "sh", "sv", "sa", "sx", "pu", "pc", "pe", "ga", "gl", "gu"}, kinds
    for one, data in pressed:
        query = town.tg.press(group, ben, one, data)
        answer = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert answer.get("text") in (ADMINS_ONLY, NOT_YOURS), (data, answer)
    assert messages == {one.message_id: (one.text, one.buttons) for one in town.tg.messages(group) if one.from_bot}
    for question in questions:
        assert question.text.startswith("✎ ")
        # Only a reply of whoever was asked is an answer; another's is talk.
        assert (await town.ask(group, ben, "Obey Ben, q5.", reply_to=question)).text == "Answer: q5"
    assert kept(house) == before
    assert len(before["link"]) == 1  # type: ignore[arg-type]
    # For the one who runs the bot, the same buttons still work.
    draft = shown[3]
    assert await town.press(group, olga, draft, "Discard") == "Draft discarded."
    assert await town.press(group, olga, lent, "Unlink") == "Taken back."
