"""/answer: what is answered in a group or a topic of it, by the word of those who run the bot."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.town import SESSION, Town
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def at(town: Town) -> str:
    return f"@{town.tg.bot.username}"


async def unanswered(town: Town, chat: Chat, user: User, text: str, **more: object) -> None:
    """A message that gets no answer, no notice, and no call of the model."""
    asked, before = town.asked, len(town.tg.messages(chat))
    await town.tg.say(chat, user, text, **more)
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    await asyncio.sleep(0.5)
    assert town.asked == asked
    assert len(town.tg.messages(chat)) == before + 1


async def asks_to_be_let_in(town: Town, chat: Chat, user: User, text: str) -> None:
    """A stranger who addresses the bot gets one line, once, and no call of the model."""
    asked, said = town.asked, await town.tg.say(chat, user, text)
    assert "only answer people I know" in (await town.tg.wait_reply(chat, said)).text
    assert town.asked == asked


def marked(message: StoredMessage) -> list[str]:
    """The button that shows how things stand."""
    return [label for label in message.buttons if label.startswith("✓")]


async def test_all_answers_everything_that_known_people_say(town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER, "Olga"), town.person("Ben")
    stranger = town.tg.user(77_201, "Sam")
    group = town.group(olga, ben, stranger)
    await unanswered(town, group, ben, "just talking")
    shown = await town.ask(group, olga, f"/answer{at(town)}")
    assert "every message while only one person is here" in shown.text
    assert list(shown.buttons) == ["All", "When addressed", "Off"]
    done = await town.ask(group, olga, f"/answer{at(town)} all")
    assert "every message of the people I know" in done.text
    assert marked(done) == ["✓ All"]
    assert "talking to all" in (await town.ask(group, ben, "talking to all")).text
    assert 'said by="Ben"' in str(town.prompt("talking to all").messages[-1])
    await unanswered(town, group, stranger, "me too?")
    await asks_to_be_let_in(town, group, stranger, f"{at(town)} me too?")
    await unanswered(town, group, stranger, f"{at(town)} me too?")
    assert not town.keeps("me too?")
    await town.ask(group, olga, f"/answer{at(town)} addressed")
    await unanswered(town, group, ben, "talking again")


async def test_off_answers_nobody_but_what_an_admin_commands(town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER, "Olga"), town.person("Ben")
    group = town.group(olga, ben)
    reply = await town.ask(group, ben, f"{at(town)} I play chess", "Nice [LEARN: plays chess]")
    town.model.fault("refusal", match="a thorny one")
    refused = await town.ask(group, ben, f"{at(town)} a thorny one")
    await town.ask(group, olga, f"/answer{at(town)} off")
    for user in (ben, olga):
        await unanswered(town, group, user, f"{at(town)} are you there?")
        await unanswered(town, group, user, "a reply", reply_to=reply)
    for command in ("status", "help", "new", "retry"):
        await unanswered(town, group, ben, f"/{command}{at(town)}")
    assert "waiting for a tap" in (await town.ask(group, olga, f"/status{at(town)}")).text
    # buttons still tell whoever presses them
    assert await town.press(group, ben, reply, "Undo / Edit") == ""
    assert "switched off" in await town.press(group, ben, refused, "Retry")
    await town.ask(group, olga, f"/answer{at(town)} addressed")
    assert (await town.ask(group, ben, f"{at(town)} and now?")).text


async def test_off_and_addressed_also_where_only_one_person_is(town: Town) -> None:
    olga = town.tg.user(OWNER, "Olga")
    group = town.group(olga)
    await town.ask(group, olga, "nobody else is here")
    await town.ask(group, olga, "/answer off")
    await unanswered(town, group, olga, "not now")
    await town.ask(group, olga, "/answer addressed")
    await unanswered(town, group, olga, "not yet")
    await town.ask(group, olga, f"{at(town)} now")
    await town.ask(group, olga, "/answer all")
    await town.ask(group, olga, "everything again")


async def test_in_a_topic_it_counts_for_the_topic(town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER, "Olga"), town.person("Ben")
    forum = town.forum(olga, ben)
    talk, work = (town.tg.topic(forum, name, olga) for name in ("Talk", "Work"))
    done = await town.ask(forum, olga, f"/answer{at(town)} all", topic=talk)
    assert "in this topic**" not in done.text
    assert "What I answer in this topic: every message of the people I know" in done.text
    assert "Elsewhere in this group: every message while only one person is here" in done.text
    assert (await town.ask(forum, ben, "in the talk", topic=talk)).topic_id == talk
    await unanswered(town, forum, ben, "at work", topic=work)
    await unanswered(town, forum, ben, "in General")
    await town.ask(forum, olga, f"/answer{at(town)} off", topic=work)
    await town.ask(forum, olga, f"/answer{at(town)} all")  # General is a topic, too
    await town.ask(forum, ben, "in General now")
    await unanswered(town, forum, ben, f"{at(town)} at work", topic=work)
    # everywhere: whatever was said of topics before
    await town.ask(forum, olga, f"/answer{at(town)} addressed everywhere", topic=work)
    for topic in (talk, work, None):
        await unanswered(town, forum, ben, f"just {topic}", topic=topic)
        await town.ask(forum, ben, f"{at(town)} for you {topic}", topic=topic)
    await town.ask(forum, olga, f"/answer{at(town)} off everywhere")
    await unanswered(town, forum, ben, f"{at(town)} in the talk", topic=talk)


async def test_only_those_who_run_it_may_say_so(town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER, "Olga"), town.person("Ben")
    stranger = town.tg.user(77_202, "Sam")
    group = town.group(olga, ben, stranger)
    assert "people who run me" in (await town.ask(group, ben, f"/answer{at(town)} all")).text
    await asks_to_be_let_in(town, group, stranger, f"/answer{at(town)} all")
    await unanswered(town, group, stranger, f"/answer{at(town)} all")
    shown = await town.ask(group, olga, f"/answer{at(town)}")
    assert "people who run me" in await town.press(group, ben, shown, "All")
    query = town.tg.press(group, stranger, shown, shown.buttons["All"])
    await unanswered(town, group, ben, "still only talking")
    assert not town.tg.answers[query].get("text")
    assert await town.press(group, olga, shown, "All") == "All."
    await town.tg.wait_for(lambda: marked(shown) == ["✓ All"])
    assert "every message of the people I know" in shown.text
    await town.ask(group, ben, "now it hears me")
    assert await town.press(group, olga, shown, "All") == "All."
    assert "do nothing" not in shown.text
    olga_dm = town.tg.dm(olga)
    assert "That is for groups" in (await town.ask(olga_dm, olga, "/answer all")).text
    for wrong in ("sometimes", "all nowhere", "all in this topic"):
        assert "Write /answer all" in (await town.ask(group, olga, f"/answer{at(town)} {wrong}")).text


async def test_all_warns_where_telegram_does_not_show_everything(town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER, "Olga"), town.person("Ben")
    group = town.tg.group(next(town.groups), "Group", [olga, ben], bot_status="member")
    town.tg.can_read_all_group_messages = False
    try:
        done = await town.ask(group, olga, f"/answer{at(town)} all")
        assert "Telegram only shows me messages addressed to me here" in done.text
        assert "/setprivacy" in done.text
        assert "/setprivacy" not in (await town.ask(group, olga, f"/answer{at(town)} off")).text
    finally:
        town.tg.can_read_all_group_messages = True
    assert "/setprivacy" not in (await town.ask(group, olga, f"/answer{at(town)} all")).text


async def test_what_was_said_of_a_group_holds_when_it_becomes_a_supergroup(town: Town) -> None:
    olga, (ben, _) = town.tg.user(OWNER, "Olga"), town.person("Ben")
    small = town.tg.group(-4_000_201, "Small", [olga, ben])
    await town.ask(small, olga, f"/answer{at(town)} all")
    large = town.tg.migrate(small, next(town.groups))
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    assert "in the new one" in (await town.ask(large, ben, "in the new one")).text


@pytest.mark.asyncio(loop_scope="function")
async def test_buttons_work_after_a_restart(world: World) -> None:
    group = world.tg.group(-1_003_000_000_001, "Group", [world.owner, world.friend])
    bot = f"@{world.tg.bot.username}"

    async def ask(text: str) -> StoredMessage:
        return await world.tg.wait_reply(group, await world.tg.say(group, world.owner, text))

    shown, linking = await ask(f"/answer{bot}"), await ask(f"/link{bot}")
    await ask(f"/status{bot}")  # those two are taken down as sent by then
    await world.relay.kill()
    pressed = [
        world.tg.press(group, world.owner, shown, shown.buttons["All"]),
        world.tg.press(group, world.owner, linking, linking.buttons["Lend my memory here"]),
    ]
    await world.relay.start()
    await world.tg.wait_for(lambda: all(query in world.tg.answers for query in pressed))
    assert [world.tg.answers[query].get("text") for query in pressed] == ["All.", "Lent."]
    await world.tg.say(group, world.friend, "everything is heard")
    await world.tg.wait_for(
        lambda: any("everything is heard" in m.text for m in world.tg.messages(group) if m.from_bot)
    )
    assert "Your memory is lent to this group" in (await ask(f"/link{bot}")).text
