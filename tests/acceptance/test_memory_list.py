"""The memory list in the chat: pages, filters, a single memory, its source, the list of changes, and who may see
them."""

from __future__ import annotations

import re

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION

GONE = "This is gone, or not yours to see."


async def taught(bot: SharedBot, chat: Chat, user: User, *facts: str) -> StoredMessage:
    """Facts that the model learns from one message; the person says the first."""
    tags = " ".join(f"[LEARN: {fact}]" for fact in facts)
    return await bot.ask(chat, user, f"Listen: {facts[0]}", f"Noted. {tags}")


async def twenty(bot: SharedBot, dm: Chat, user: User) -> None:
    for start in range(0, 20, 5):
        await taught(bot, dm, user, *[f"note {n} is {n * 7919:x} and {n * 104729:x}" for n in range(start, start + 5)])


def last(bot: SharedBot, chat: Chat) -> StoredMessage:
    """Returns the bot's last message in a chat."""
    return [message for message in bot.tg.messages(chat) if message.from_bot][-1]


def notes(message: StoredMessage) -> list[int]:
    return [int(number) for number in re.findall(r"note (\d+) is", message.text)]


def number_of(message: StoredMessage, text: str) -> str:
    """Returns the number of a memory in a list, as its button is labelled."""
    found = re.search(rf"(#\d+) [^#]*{re.escape(text)}", message.text)
    assert found, message.text
    return found[1]


async def test_a_long_memory_list_is_paged_with_buttons(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await twenty(bot, dm, ada)
    said = await bot.ask(dm, ada, "/memory")
    assert said.text.startswith("What I know (20, page 1 of 3)")
    assert notes(said) == [19, 18, 17, 16, 15, 14, 13, 12]
    seen = [*notes(said)]
    for label, page in (("›", 2), ("›", 3)):
        assert await bot.press(dm, ada, said, label) == ""
        assert f"page {page} of 3" in said.text
        seen += notes(said)
    assert seen == list(range(19, -1, -1))
    assert "›" not in said.buttons
    await bot.press(dm, ada, said, "‹")
    assert notes(said) == [11, 10, 9, 8, 7, 6, 5, 4]
    await bot.press(dm, ada, said, number_of(said, "note 9 is"))
    assert "note 9 is" in said.text
    assert "page 2" not in said.text
    await bot.press(dm, ada, said, "Forget")
    assert "Forgot: note 9 is" in said.text
    await bot.press(dm, ada, said, "Back")
    assert said.text.startswith("What I know (19, page 2 of 3)")
    assert notes(said) == [11, 10, 8, 7, 6, 5, 4, 3]
    await bot.press(dm, ada, said, "»")
    assert notes(said) == [2, 1, 0]
    await bot.press(dm, ada, said, "«")
    assert notes(said)[0] == 19
    assert len([message for message in bot.tg.messages(dm) if message.from_bot]) == 5, "paging edits the same message"


async def test_memories_can_be_filtered_and_pinned_and_pinning_undone(bot: SharedBot) -> None:
    ada, dm = bot.person()
    learned = 'Ok [REMEMBER] {"content": "Tea before talk", "category": "operational", "tags": ["tea"]}'
    await bot.ask(dm, ada, "a lesson", learned)
    await bot.ask(dm, ada, "another", 'Ok [REMEMBER] {"content": "Ada is direct", "category": "identity"}')
    await taught(bot, dm, ada, "Ada sails", "Ada paints")
    said = await bot.ask(dm, ada, "/memory")
    assert "◆ Tea before talk" in said.text
    await bot.press(dm, ada, said, "Facts 2")
    assert "Ada sails" in said.text
    assert "Tea before" not in said.text
    await bot.press(dm, ada, said, "Learnings 2")
    await bot.press(dm, ada, said, "Operational 1")
    assert said.text.startswith("What I know · Operational (1 of 4)")
    await bot.press(dm, ada, said, number_of(said, "Tea before talk"))
    for part in ("Learning #", "category: operational", "tags: tea", "I noticed it in a conversation"):
        assert part in said.text
    assert await bot.press(dm, ada, said, "📌 Pin") == "📌 Pinned: Tea before talk"
    assert "📌 Pinned: Tea before talk" in said.text
    assert "Unpin" in said.buttons
    await bot.press(dm, ada, said, "Back")
    assert "📌 ◆ Tea before talk" in said.text
    await bot.press(dm, ada, said, "Pinned 1")
    assert said.text.startswith("What I know · 📌 Pinned (1 of 4)")
    await bot.press(dm, ada, said, number_of(said, "Tea before talk"))
    assert await bot.press(dm, ada, said, "Undo pinning") == "Undone."
    assert "📌 Pin" in said.buttons
    await bot.press(dm, ada, said, "Back")
    assert "Nothing here matches that." in said.text
    await bot.press(dm, ada, said, "All")
    assert "(4)" in said.text


async def test_memories_can_be_looked_up_by_words_and_number(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await twenty(bot, dm, ada)
    await taught(bot, dm, ada, "Ada drinks strong *tea* with milk")
    found = await bot.ask(dm, ada, "/memory MILK tea")
    assert found.text.startswith("What I know · “MILK tea” (1 of 21)")
    assert "Ada drinks strong *tea* with milk" in found.text
    number = number_of(found, "Ada drinks")
    many = await bot.ask(dm, ada, "/memory note")
    await bot.press(dm, ada, many, "›")
    assert many.text.startswith("What I know · “note” (20 of 21, page 2 of 3)")
    await bot.press(dm, ada, many, number_of(many, "note 9 is"))
    await bot.press(dm, ada, many, "Back")
    assert "“note” (20 of 21, page 2 of 3)" in many.text
    for text in (f"/memory {number}", f"/memory {number[1:]}"):
        opened = await bot.ask(dm, ada, text)
        assert opened.text.startswith(f"Fact {number}")
        assert "strong *tea*" in opened.text
    assert "Nothing here matches that" in (await bot.ask(dm, ada, "/memory submarine")).text
    assert "no memory #999999 here" in (await bot.ask(dm, ada, "/memory 999999")).text


async def test_a_memory_can_be_reworded_from_its_page(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await taught(bot, dm, ada, "Ada plays the cello")
    said = await bot.ask(dm, ada, "/memory")
    await bot.press(dm, ada, said, number_of(said, "cello"))
    await bot.press(dm, ada, said, "Edit")
    question = await bot.tg.wait_for(lambda: next((m for m in bot.tg.messages(dm) if m.text.startswith("✎ ")), None))
    edited = await bot.ask(dm, ada, "Ada plays the viola", reply_to=question)
    assert "Updated: Ada plays the viola (was: Ada plays the cello)" in edited.text
    await bot.press(dm, ada, said, "Back")
    await bot.press(dm, ada, said, number_of(said, "viola"))
    assert "last changed" in said.text
    assert await bot.press(dm, ada, said, "Undo rewording") == "Undone."
    assert "Ada plays the cello" in said.text


async def test_the_page_of_a_memory_shows_its_source(bot: SharedBot) -> None:
    ada, dm = bot.person()
    ben, _ = bot.person("Ben")
    long = "so it goes " * 80 + "and Ada keeps bees in Bergen, " + "and on it goes " * 80
    await bot.ask(dm, ada, long, "How nice, bees in Bergen. [LEARN: Ada keeps bees in Bergen]")
    said = await bot.ask(dm, ada, "/memory bees")
    await bot.press(dm, ada, said, number_of(said, "bees"))
    await bot.press(dm, ada, said, "Source")
    assert re.search(r"You said, \d{4}-\d\d-\d\d \d\d:\d\d in our private chat:", said.text)
    assert "…" in said.text
    assert "and Ada keeps bees in Bergen" in said.text
    assert len(said.text) < 1200
    assert "How nice, bees in Bergen." in said.text
    assert "t.me" not in str(said.raw)
    await bot.press(dm, ada, said, "Back")
    assert "Fact #" in said.text
    # With her own command.
    await bot.ask(dm, ada, "/remember I sail on Sundays")
    said = await bot.ask(dm, ada, "/memory Sundays")
    await bot.press(dm, ada, said, number_of(said, "sail"))
    assert "you asked me to remember it" in said.text
    await bot.press(dm, ada, said, "Source")
    assert "You told me with /remember" in said.text
    # From a forward, in a topic of a supergroup of her own.
    forum = bot.forum(ada)
    topic = bot.tg.topic(forum, "Ideas", ada)
    bot.says("Ada likes spam", "I see [LEARN: Ada likes spam]")
    source = await bot.tg.say(forum, ada, "Ada likes spam", topic=topic, forward_from=ben)
    (reply,) = await bot.tg.wait_for(lambda: [m for m in bot.tg.messages(forum, topic) if "I see" in m.text])
    await bot.press(forum, ada, reply, "Keep or discard")
    await bot.press(forum, ada, reply, "Keep: Ada likes spam")
    said = await bot.ask(dm, ada, "/memory spam")
    await bot.press(dm, ada, said, number_of(said, "spam"))
    assert "confirmed by a tap" in said.text
    await bot.press(dm, ada, said, "Source")
    assert "in “Forum”" in said.text
    assert "other people's words: forwarded from Ben" in said.text
    (link,) = [entity for entity in said.raw["entities"] if entity["type"] == "text_link"]
    assert link["url"] == f"https://t.me/c/{-forum.id - 10**12}/{topic}/{source.message_id}"


async def test_every_change_can_be_undone_from_the_list_of_changes(bot: SharedBot) -> None:
    ada, dm = bot.person()
    ben, _ = bot.person("Ben")
    await taught(bot, dm, ada, "Ada sails", "Ada paints")
    await bot.ask(dm, ada, "/forget paints")
    said = await bot.ask(dm, ada, "/memory changes")
    assert said.text.startswith("Changes (3)")
    assert said.text.index("Forgot: Ada paints") < said.text.index("Learned: Ada paints")
    await bot.tg.button(said, "Undo 3")
    assert not any("Undo 2" in label for label in said.buttons), "it has changed again since"
    assert await bot.press(dm, ada, said, "Undo 1") == "Undone."
    assert "Forgot: Ada paints – undone" in said.text
    assert await bot.press(dm, ada, said, "Undo 3") == "Undone."
    assert "Learned: Ada sails – undone" in said.text
    # Pending memories.
    bot.says("Ada hates ham", "Ok [LEARN: Ada hates ham] [LEARN: Ada likes spam]")
    await bot.ask(dm, ada, "Ada hates ham", forward_from=ben)
    listed = await bot.ask(dm, ada, "/memory")
    assert "2 waiting for your tap" in listed.text
    await bot.press(dm, ada, listed, "2 waiting")
    assert listed.text.startswith("Waiting for your tap (2)")
    first = "spam" if listed.text.index("spam") < listed.text.index("ham.") else "ham"
    assert await bot.press(dm, ada, listed, "Keep 1") == "Done."
    assert listed.text.startswith("Waiting for your tap (1)")
    assert await bot.press(dm, ada, listed, "Discard 1") == "Discarded."
    assert "Nothing is waiting for your tap." in listed.text
    await bot.press(dm, ada, listed, "What I know")
    assert "(2)" in listed.text
    assert first in listed.text
    # Many changes.
    await twenty(bot, dm, ada)
    said = await bot.ask(dm, ada, "/memory changes")
    assert said.text.startswith("Changes (25, page 1 of 4)")
    await bot.press(dm, ada, said, "»")
    assert "page 4 of 4" in said.text
    assert "Learned: Ada sails – undone" in said.text


async def test_forget_lists_ten_matches_and_says_there_are_more(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await twenty(bot, dm, ada)
    reply = await bot.ask(dm, ada, "/forget note")
    assert "Which one should I forget?" in reply.text
    assert "10 · " in reply.text
    assert "There are more. Use more specific words" in reply.text
    assert len([label for label in reply.buttons if "🗑" in label]) == 10


async def test_a_groups_memory_is_shown_to_its_members_in_private(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm), (cyd, cyd_dm) = bot.person("Ada"), bot.person("Ben"), bot.person("Cyd")
    group, mention = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    group.title = "Salad *club*"
    await taught(bot, dm, ada, "Ada is allergic to nuts")
    await taught(bot, ben_dm, ben, "Ben is shy")
    await bot.ask(group, ada, f"{mention} I bring the salad", "Good [LEARN: brings the salad]")
    told = await bot.ask(group, ben, f"/memory{mention}")
    assert told.text == "I've answered in our private chat."
    assert "salad" not in told.text
    said = last(bot, ben_dm)
    assert said.text.startswith("What I know in “Salad *club*” (1)")
    assert "Ada: brings the salad" in said.text
    assert "shy" not in said.text
    # A member may read a memory about somebody else, but not change it.
    memory_id = said.buttons[number_of(said, "salad")].split(":")[1]
    await bot.press(ben_dm, ben, said, number_of(said, "salad"))
    assert "Only the person it's about and my admins" in said.text
    assert "Pin" not in str(said.buttons)
    opened = dict(said.buttons)
    for data in (f"mp:{memory_id}:a.1", f"mf:{memory_id}:a.1", f"e:{memory_id}"):
        query = bot.tg.press(ben_dm, ben, said, data)
        answer = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert "yours to change" in answer["text"]
    # Ada may in her own chat, and it changes the group's memory.
    await bot.ask(group, ada, f"/memory{mention}")
    hers = last(bot, dm)
    await bot.press(dm, ada, hers, number_of(hers, "salad"))
    await bot.press(dm, ada, hers, "Edit")
    question = await bot.tg.wait_for(lambda: next((m for m in bot.tg.messages(dm) if m.text.startswith("✎ ")), None))
    edited = await bot.ask(dm, ada, "brings the soup", reply_to=question)
    assert "Updated: brings the soup" in edited.text
    await bot.ask(group, ben, f"{mention} who brings what?")
    assert "- Ada: brings the soup" in bot.prompt("who brings what?").system_text
    # Her own memory is one tap away, and stays out of the group's.
    await bot.press(dm, ada, hers, "Back")
    await bot.press(dm, ada, hers, "My own memory")
    assert hers.text.startswith("What I know (1)")
    assert "nuts" in hers.text
    assert "soup" not in hers.text
    # Somebody outside the group sees nothing of it, whatever they press.
    await bot.ask(cyd_dm, cyd, "hello")
    theirs = last(bot, cyd_dm)
    space = next(data.split(":")[1] for data in opened.values() if data.startswith("ml:"))
    forged = [f"ml:{space}:a.1", f"mb:{space}", f"mc:{space}:a.1", f"mw:{memory_id}:a.1", *opened.values()]
    for data in forged:
        query = bot.tg.press(cyd_dm, cyd, theirs, data)
        answer = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert answer["text"] == GONE
    assert theirs.text == "You said: hello"
    # Nor does somebody who has left it.
    bot.tg.remove_member(group, ben, by=ada)
    assert await bot.press(ben_dm, ben, said, "Back") == GONE
    assert await bot.press(ben_dm, ben, said, "Source") == GONE
    assert "soup" not in said.text
    bot.tg.press(cyd_dm, bot.tg.user(77_900, "Sam"), theirs, f"ml:{space}:a.1")
    await bot.ask(cyd_dm, cyd, "still there?")
    assert theirs.text == "You said: hello", "a stranger's press does nothing"


async def test_a_groups_memory_is_listed_by_person_and_admins_may_change_it(bot: SharedBot) -> None:
    (ada, _), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    olga = bot.tg.user(OWNER)
    group, mention = bot.group(ada, ben, olga), f"@{bot.tg.bot.username}"
    await bot.ask(group, ada, f"/remember{mention} brings the salad")
    await bot.ask(group, ben, f"/remember{mention} brings the wine")
    await bot.ask(group, ben, f"/memory{mention}")
    said = last(bot, ben_dm)
    await bot.press(ben_dm, ben, said, "By person")
    assert said.text.startswith("People I know in “Group”")
    await bot.press(ben_dm, ben, said, "Ben · 1")
    assert said.text.startswith("What I know in “Group” · about Ben (1 of 2)")
    await bot.press(ben_dm, ben, said, "All")
    await bot.press(ben_dm, ben, said, "Changes")
    assert said.text.startswith("Changes in “Group” (2)")
    assert [label for label in said.buttons if "Undo" in label] == ["↩ Undo 1"], "only his own change can be undone"
    theirs = bot.tg.dm(olga)
    await bot.ask(group, olga, f"/memory{mention}")
    hers = last(bot, theirs)
    await bot.press(theirs, olga, hers, number_of(hers, "salad"))
    assert await bot.press(theirs, olga, hers, "Forget") == "🧠 Forgot: brings the salad"
    assert await bot.press(theirs, olga, hers, "Undo forgetting") == "Undone."
    await bot.press(theirs, olga, hers, "Source")
    assert "Ada told me with /remember" in hers.text
    (link,) = [entity for entity in hers.raw["entities"] if entity["type"] == "text_link"]
    assert link["url"].startswith(f"https://t.me/c/{-group.id - 10**12}/")


async def test_private_memories_are_not_shown_after_others_joined(bot: SharedBot) -> None:
    ada, dm = bot.person("Ada")
    ben, _ = bot.person("Ben")
    forum = bot.forum(ada)
    reply = await taught(bot, forum, ada, "Ada sees Dr. Quill")
    bot.tg.add_member(forum, ben, by=ada)
    before = len(bot.tg.messages(forum))
    assert "Others can read this chat" in await bot.press(forum, ada, reply, "Undo / Edit")
    assert list(reply.buttons) == ["↩ Undo / Edit…", "◆ Keep this"]
    listed = await bot.ask(dm, ada, "/memory")
    memory_id = listed.buttons[number_of(listed, "Quill")].split(":")[1]
    query = bot.tg.press(forum, ada, reply, f"e:{memory_id}")
    await bot.tg.wait_for(lambda: bot.tg.answers.get(query))
    question = await bot.tg.wait_for(lambda: next((m for m in bot.tg.messages(dm) if m.text.startswith("✎ ")), None))
    assert "Quill" in question.text
    await bot.tg.wait_for(lambda: len(bot.tg.messages(forum)) > before)
    assert all("Quill" not in message.text for message in bot.tg.messages(forum)[before:])


async def test_the_buttons_of_the_memory_list_work_after_a_restart(bot: SharedBot) -> None:
    world = bot.world()

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


async def test_a_press_on_a_list_sent_without_response_does_not_double_it(bot: SharedBot) -> None:
    world = bot.world()
    world.model.rule("I sail", "Ahoy [LEARN: Ada fears storms]")
    said = await world.tg.say(world.dm, world.owner, "I sail")
    await world.tg.wait_reply(world.dm, said)
    world.tg.fault("sendMessage", "late", delay=5)
    said = await world.tg.say(world.dm, world.owner, "/memory")
    listed = await world.tg.wait_reply(world.dm, said)
    await world.relay.kill()
    await world.relay.start()
    await world.tg.wait_polling(timeout=30)
    query = world.tg.press(world.dm, world.owner, listed, listed.buttons[number_of(listed, "storms")])
    await world.tg.wait_for(lambda: world.tg.answers.get(query))
    await world.tg.button(listed, "Forget")
    assert world.tg.messages(world.dm)[-1] is listed
