"""Looking through memory in the chat: pages, filters, one memory opened, where it is from, what changed; who may."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.town import SESSION, Town
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION

GONE = "This is gone, or not yours to see."


async def taught(town: Town, chat: Chat, user: User, *facts: str) -> StoredMessage:
    """Facts that the model learns from one message (the first is what the person says)."""
    tags = " ".join(f"[LEARN: {fact}]" for fact in facts)
    return await town.ask(chat, user, f"Listen: {facts[0]}", f"Noted. {tags}")


async def twenty(town: Town, dm: Chat, user: User) -> None:
    for start in range(0, 20, 5):
        await taught(town, dm, user, *[f"note {n} is {n * 7919:x} and {n * 104729:x}" for n in range(start, start + 5)])


def last(town: Town, chat: Chat) -> StoredMessage:
    """What the bot said last in a chat."""
    return [message for message in town.tg.messages(chat) if message.from_bot][-1]


def notes(message: StoredMessage) -> list[int]:
    return [int(number) for number in re.findall(r"note (\d+) is", message.text)]


def number_of(message: StoredMessage, text: str) -> str:
    """The number of a memory in a list, as its button is labelled."""
    found = re.search(rf"(#\d+) [^#]*{re.escape(text)}", message.text)
    assert found, message.text
    return found[1]


async def test_a_long_list_is_walked_by_buttons(town: Town) -> None:
    ada, dm = town.person()
    await twenty(town, dm, ada)
    said = await town.ask(dm, ada, "/memory")
    assert said.text.startswith("What I know (20, page 1 of 3)")
    assert notes(said) == [19, 18, 17, 16, 15, 14, 13, 12]
    seen = [*notes(said)]
    for label, page in (("›", 2), ("›", 3)):
        assert await town.press(dm, ada, said, label) == ""
        assert f"page {page} of 3" in said.text
        seen += notes(said)
    assert seen == list(range(19, -1, -1))
    assert "›" not in said.buttons
    await town.press(dm, ada, said, "‹")
    assert notes(said) == [11, 10, 9, 8, 7, 6, 5, 4]
    await town.press(dm, ada, said, number_of(said, "note 9 is"))
    assert "note 9 is" in said.text
    assert "page 2" not in said.text
    await town.press(dm, ada, said, "Forget")
    assert "Forgot: note 9 is" in said.text
    await town.press(dm, ada, said, "Back")
    assert said.text.startswith("What I know (19, page 2 of 3)")
    assert notes(said) == [11, 10, 8, 7, 6, 5, 4, 3]
    await town.press(dm, ada, said, "»")
    assert notes(said) == [2, 1, 0]
    await town.press(dm, ada, said, "«")
    assert notes(said)[0] == 19
    assert len([message for message in town.tg.messages(dm) if message.from_bot]) == 5, "all in one message"


async def test_filters_pins_and_their_undo(town: Town) -> None:
    ada, dm = town.person()
    learned = 'Ok [REMEMBER] {"content": "Tea before talk", "category": "operational", "tags": ["tea"]}'
    await town.ask(dm, ada, "a lesson", learned)
    await town.ask(dm, ada, "another", 'Ok [REMEMBER] {"content": "Ada is direct", "category": "identity"}')
    await taught(town, dm, ada, "Ada sails", "Ada paints")
    said = await town.ask(dm, ada, "/memory")
    assert "◆ Tea before talk" in said.text
    await town.press(dm, ada, said, "Facts 2")
    assert "Ada sails" in said.text
    assert "Tea before" not in said.text
    await town.press(dm, ada, said, "Learnings 2")
    await town.press(dm, ada, said, "Operational 1")
    assert said.text.startswith("What I know · Operational (1 of 4)")
    await town.press(dm, ada, said, number_of(said, "Tea before talk"))
    for part in ("Learning #", "category: operational", "tags: tea", "I noticed it in a conversation"):
        assert part in said.text
    assert await town.press(dm, ada, said, "📌 Pin") == "📌 Pinned: Tea before talk"
    assert "📌 Pinned: Tea before talk" in said.text
    assert "Unpin" in said.buttons
    await town.press(dm, ada, said, "Back")
    assert "📌 ◆ Tea before talk" in said.text
    await town.press(dm, ada, said, "Pinned 1")
    assert said.text.startswith("What I know · 📌 Pinned (1 of 4)")
    await town.press(dm, ada, said, number_of(said, "Tea before talk"))
    assert await town.press(dm, ada, said, "Undo pinning") == "Undone."
    assert "📌 Pin" in said.buttons
    await town.press(dm, ada, said, "Back")
    assert "Nothing here matches that." in said.text
    await town.press(dm, ada, said, "All")
    assert "(4)" in said.text


async def test_words_and_numbers_are_looked_up(town: Town) -> None:
    ada, dm = town.person()
    await twenty(town, dm, ada)
    await taught(town, dm, ada, "Ada drinks strong *tea* with milk")
    found = await town.ask(dm, ada, "/memory MILK tea")
    assert found.text.startswith("What I know · “MILK tea” (1 of 21)")
    assert "Ada drinks strong *tea* with milk" in found.text
    number = number_of(found, "Ada drinks")
    many = await town.ask(dm, ada, "/memory note")
    await town.press(dm, ada, many, "›")
    assert many.text.startswith("What I know · “note” (20 of 21, page 2 of 3)")
    await town.press(dm, ada, many, number_of(many, "note 9 is"))
    await town.press(dm, ada, many, "Back")
    assert "“note” (20 of 21, page 2 of 3)" in many.text
    for text in (f"/memory {number}", f"/memory {number[1:]}"):
        opened = await town.ask(dm, ada, text)
        assert opened.text.startswith(f"Fact {number}")
        assert "strong *tea*" in opened.text
    assert "Nothing here matches that" in (await town.ask(dm, ada, "/memory submarine")).text
    assert "no memory #999999 here" in (await town.ask(dm, ada, "/memory 999999")).text


async def test_a_memory_is_reworded_from_its_card(town: Town) -> None:
    ada, dm = town.person()
    await taught(town, dm, ada, "Ada plays the cello")
    said = await town.ask(dm, ada, "/memory")
    await town.press(dm, ada, said, number_of(said, "cello"))
    await town.press(dm, ada, said, "Edit")
    question = await town.tg.wait_for(lambda: next((m for m in town.tg.messages(dm) if m.text.startswith("✎ ")), None))
    edited = await town.ask(dm, ada, "Ada plays the viola", reply_to=question)
    assert "Updated: Ada plays the viola (was: Ada plays the cello)" in edited.text
    await town.press(dm, ada, said, "Back")
    await town.press(dm, ada, said, number_of(said, "viola"))
    assert "last changed" in said.text
    assert await town.press(dm, ada, said, "Undo rewording") == "Undone."
    assert "Ada plays the cello" in said.text


async def test_where_a_memory_is_from(town: Town) -> None:
    ada, dm = town.person()
    ben, _ = town.person("Ben")
    long = "so it goes " * 80 + "and Ada keeps bees in Bergen, " + "and on it goes " * 80
    await town.ask(dm, ada, long, "How nice, bees in Bergen. [LEARN: Ada keeps bees in Bergen]")
    said = await town.ask(dm, ada, "/memory bees")
    await town.press(dm, ada, said, number_of(said, "bees"))
    await town.press(dm, ada, said, "Where from")
    assert re.search(r"You said, \d{4}-\d\d-\d\d \d\d:\d\d in our private chat:", said.text)
    assert "…" in said.text
    assert "and Ada keeps bees in Bergen" in said.text
    assert len(said.text) < 1200
    assert "How nice, bees in Bergen." in said.text
    assert "t.me" not in str(said.raw)
    await town.press(dm, ada, said, "Back")
    assert "Fact #" in said.text
    # by her own word
    await town.ask(dm, ada, "/remember I sail on Sundays")
    said = await town.ask(dm, ada, "/memory Sundays")
    await town.press(dm, ada, said, number_of(said, "sail"))
    assert "you asked me to remember it" in said.text
    await town.press(dm, ada, said, "Where from")
    assert "You told me with /remember" in said.text
    # from a forward, in a topic of a supergroup of her own
    forum = town.forum(ada)
    topic = town.tg.topic(forum, "Ideas", ada)
    town.says("Ada likes spam", "I see [LEARN: Ada likes spam]")
    source = await town.tg.say(forum, ada, "Ada likes spam", topic=topic, forward_from=ben)
    (reply,) = await town.tg.wait_for(lambda: [m for m in town.tg.messages(forum, topic) if "I see" in m.text])
    await town.press(forum, ada, reply, "Keep or discard")
    await town.press(forum, ada, reply, "Keep: Ada likes spam")
    said = await town.ask(dm, ada, "/memory spam")
    await town.press(dm, ada, said, number_of(said, "spam"))
    assert "confirmed by a tap" in said.text
    await town.press(dm, ada, said, "Where from")
    assert "in “Forum”" in said.text
    assert "other people's words: forwarded from Ben" in said.text
    (link,) = [entity for entity in said.raw["entities"] if entity["type"] == "text_link"]
    assert link["url"] == f"https://t.me/c/{-forum.id - 10**12}/{topic}/{source.message_id}"


async def test_every_change_can_be_undone_from_the_list_of_changes(town: Town) -> None:
    ada, dm = town.person()
    ben, _ = town.person("Ben")
    await taught(town, dm, ada, "Ada sails", "Ada paints")
    await town.ask(dm, ada, "/forget paints")
    said = await town.ask(dm, ada, "/memory changes")
    assert said.text.startswith("Changes (3)")
    assert said.text.index("Forgot: Ada paints") < said.text.index("Learned: Ada paints")
    assert await town.press(dm, ada, said, "Undo 2") == "It has changed again since. Undo the newer change first."
    assert await town.press(dm, ada, said, "Undo 1") == "Undone."
    assert "Forgot: Ada paints – undone" in said.text
    assert await town.press(dm, ada, said, "Undo 3") == "Undone."
    assert "Learned: Ada sails – undone" in said.text
    # what waits
    town.says("Ada hates ham", "Ok [LEARN: Ada hates ham] [LEARN: Ada likes spam]")
    await town.ask(dm, ada, "Ada hates ham", forward_from=ben)
    listed = await town.ask(dm, ada, "/memory")
    assert "2 waiting for your tap" in listed.text
    await town.press(dm, ada, listed, "2 waiting")
    assert listed.text.startswith("Waiting for your tap (2)")
    first = "spam" if listed.text.index("spam") < listed.text.index("ham.") else "ham"
    assert await town.press(dm, ada, listed, "Keep 1") == "Done."
    assert listed.text.startswith("Waiting for your tap (1)")
    assert await town.press(dm, ada, listed, "Discard 1") == "Discarded."
    assert "Nothing is waiting for your tap." in listed.text
    await town.press(dm, ada, listed, "What I know")
    assert "(2)" in listed.text
    assert first in listed.text
    # many
    await twenty(town, dm, ada)
    said = await town.ask(dm, ada, "/memory changes")
    assert said.text.startswith("Changes (25, page 1 of 4)")
    await town.press(dm, ada, said, "»")
    assert "page 4 of 4" in said.text
    assert "Learned: Ada sails – undone" in said.text


async def test_forget_says_that_more_match(town: Town) -> None:
    ada, dm = town.person()
    await twenty(town, dm, ada)
    reply = await town.ask(dm, ada, "/forget note")
    assert "Which one should I forget?" in reply.text
    assert "10 · " in reply.text
    assert "There are more. Use more exact words" in reply.text
    assert len([label for label in reply.buttons if "🗑" in label]) == 10


async def test_a_groups_memory_is_shown_in_private_to_those_who_are_in_it(town: Town) -> None:
    (ada, dm), (ben, ben_dm), (cyd, cyd_dm) = town.person("Ada"), town.person("Ben"), town.person("Cyd")
    group, bot = town.group(ada, ben), f"@{town.tg.bot.username}"
    group.title = "Salad *club*"
    await taught(town, dm, ada, "Ada is allergic to nuts")
    await taught(town, ben_dm, ben, "Ben is shy")
    await town.ask(group, ada, f"{bot} I bring the salad", "Good [LEARN: brings the salad]")
    told = await town.ask(group, ben, f"/memory{bot}")
    assert told.text == "I've answered in our private chat."
    assert "salad" not in told.text
    said = last(town, ben_dm)
    assert said.text.startswith("What I know in “Salad *club*” (1)")
    assert "Ada: brings the salad" in said.text
    assert "shy" not in said.text
    # what is about another is read, and not changed
    memory_id = said.buttons[number_of(said, "salad")].split(":")[1]
    await town.press(ben_dm, ben, said, number_of(said, "salad"))
    assert "Only the person it's about and my admins" in said.text
    assert "Pin" not in str(said.buttons)
    opened = dict(said.buttons)
    for data in (f"mp:{memory_id}:a.1", f"mf:{memory_id}:a.1", f"e:{memory_id}"):
        query = town.tg.press(ben_dm, ben, said, data)
        answer = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert "yours to change" in answer["text"]
    # Ada may, in her own chat, and it is the group's memory that changes
    await town.ask(group, ada, f"/memory{bot}")
    hers = last(town, dm)
    await town.press(dm, ada, hers, number_of(hers, "salad"))
    await town.press(dm, ada, hers, "Edit")
    question = await town.tg.wait_for(lambda: next((m for m in town.tg.messages(dm) if m.text.startswith("✎ ")), None))
    edited = await town.ask(dm, ada, "brings the soup", reply_to=question)
    assert "Updated: brings the soup" in edited.text
    await town.ask(group, ben, f"{bot} who brings what?")
    assert "- Ada: brings the soup" in town.prompt("who brings what?").system_text
    # her own memory is one tap away, and stays out of the group's
    await town.press(dm, ada, hers, "Back")
    await town.press(dm, ada, hers, "My own memory")
    assert hers.text.startswith("What I know (1)")
    assert "nuts" in hers.text
    assert "soup" not in hers.text
    # somebody who is not in the group sees nothing of it, whatever they press
    await town.ask(cyd_dm, cyd, "hello")
    theirs = last(town, cyd_dm)
    space = next(data.split(":")[1] for data in opened.values() if data.startswith("ml:"))
    forged = [f"ml:{space}:a.1", f"mb:{space}", f"mc:{space}:a.1", f"mw:{memory_id}:a.1", *opened.values()]
    for data in forged:
        query = town.tg.press(cyd_dm, cyd, theirs, data)
        answer = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert answer["text"] == GONE
    assert theirs.text == "You said: hello"
    # nor does one who has left it
    town.tg.remove_member(group, ben, by=ada)
    assert await town.press(ben_dm, ben, said, "Back") == GONE
    assert await town.press(ben_dm, ben, said, "Where from") == GONE
    assert "soup" not in said.text
    town.tg.press(cyd_dm, town.tg.user(77_900, "Sam"), theirs, f"ml:{space}:a.1")
    await town.ask(cyd_dm, cyd, "still there?")
    assert theirs.text == "You said: hello", "a stranger's press does nothing"


async def test_a_groups_list_by_person_and_what_its_admins_may(town: Town) -> None:
    (ada, _), (ben, ben_dm) = town.person("Ada"), town.person("Ben")
    olga = town.tg.user(OWNER)
    group, bot = town.group(ada, ben, olga), f"@{town.tg.bot.username}"
    await town.ask(group, ada, f"/remember{bot} brings the salad")
    await town.ask(group, ben, f"/remember{bot} brings the wine")
    await town.ask(group, ben, f"/memory{bot}")
    said = last(town, ben_dm)
    await town.press(ben_dm, ben, said, "By person")
    assert said.text.startswith("People I know in “Group”")
    await town.press(ben_dm, ben, said, "Ben · 1")
    assert said.text.startswith("What I know in “Group” · about Ben (1 of 2)")
    await town.press(ben_dm, ben, said, "All")
    await town.press(ben_dm, ben, said, "Changes")
    assert said.text.startswith("Changes in “Group” (2)")
    assert [label for label in said.buttons if "Undo" in label] == ["↩ Undo 1"], "his own change"
    theirs = town.tg.dm(olga)
    await town.ask(group, olga, f"/memory{bot}")
    hers = last(town, theirs)
    await town.press(theirs, olga, hers, number_of(hers, "salad"))
    assert await town.press(theirs, olga, hers, "Forget") == "🧠 Forgot: brings the salad"
    assert await town.press(theirs, olga, hers, "Undo forgetting") == "Undone."
    await town.press(theirs, olga, hers, "Where from")
    assert "Ada told me with /remember" in hers.text
    (link,) = [entity for entity in hers.raw["entities"] if entity["type"] == "text_link"]
    assert link["url"].startswith(f"https://t.me/c/{-group.id - 10**12}/")


async def test_what_is_ones_own_is_not_shown_where_others_came_in(town: Town) -> None:
    ada, dm = town.person("Ada")
    ben, _ = town.person("Ben")
    forum = town.forum(ada)
    reply = await taught(town, forum, ada, "Ada sees Dr. Quill")
    town.tg.add_member(forum, ben, by=ada)
    before = len(town.tg.messages(forum))
    assert "Others can read along here" in await town.press(forum, ada, reply, "Undo / Edit")
    assert list(reply.buttons) == ["↩ Undo / Edit…", "◆ Keep this"]
    listed = await town.ask(dm, ada, "/memory")
    memory_id = listed.buttons[number_of(listed, "Quill")].split(":")[1]
    query = town.tg.press(forum, ada, reply, f"e:{memory_id}")
    await town.tg.wait_for(lambda: town.tg.answers.get(query))
    question = await town.tg.wait_for(lambda: next((m for m in town.tg.messages(dm) if m.text.startswith("✎ ")), None))
    assert "Quill" in question.text
    await town.tg.wait_for(lambda: len(town.tg.messages(forum)) > before)
    assert all("Quill" not in message.text for message in town.tg.messages(forum)[before:])


@pytest.mark.asyncio(loop_scope="function")
async def test_the_list_goes_on_after_a_restart(world: World) -> None:
    async def press(label: str) -> str:
        return await world.tg.tap(world.dm, world.owner, listed, label)

    world.model.rule("I sail", "Ahoy " + " ".join(f"[LEARN: Ada fears {w}]" for w in ("sharks", "storms", "squid")))
    said = await world.tg.say(world.dm, world.owner, "I sail")
    await world.tg.wait_reply(world.dm, said)
    said = await world.tg.say(world.dm, world.owner, "/memory")
    listed = await world.tg.wait_reply(world.dm, said)
    await world.relay.kill()
    await world.relay.start()
    await world.tg.wait_polling(timeout=30)
    await press(number_of(listed, "storms"))
    assert "Ada fears storms" in listed.text
    assert await press("Forget") == "🧠 Forgot: Ada fears storms"
    assert await world.relay.stop() == 0
    await world.relay.start()
    assert await press("Undo forgetting") == "Undone."
    await press("Back")
    assert "What I know (3)" in listed.text
