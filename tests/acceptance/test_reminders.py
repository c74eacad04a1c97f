"""A person asks for a reminder, in words or by a command, and gets it once, at that time."""

from __future__ import annotations

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.test_edits import AGAIN, exchange
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage

pytestmark = SESSION


async def bring_near(bot: SharedBot, text: str) -> None:
    """Makes the reminder due now."""
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    shared_relay.sql("update relay.reminder set next_at = now() where text = %s", text)
    shared_relay.sql("update relay.job set due_at = now() where kind = 'reminder'")


async def told(bot: SharedBot, dm: Chat, text: str) -> StoredMessage:
    return await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text.startswith(f"⏰ {text}")), None), 20
    )


async def test_a_reminder_is_sent_once_and_can_be_snoozed_and_done(bot: SharedBot) -> None:
    ada, dm = bot.person()
    made = await bot.ask(dm, ada, "/remind in 1 day at 9:00 to call the dentist")
    assert made.text == "⏰ call the dentist\ntomorrow 9:00"
    assert [one["type"] for one in made.raw["entities"]] == ["date_time"]
    assert list(made.buttons) == ["↩ Undo", "✎ Edit", "1 h later"]
    await bot.press(dm, ada, made, "1 h later")
    await bot.tg.wait_for(lambda: made.text == "⏰ call the dentist\ntomorrow 10:00")
    await bot.press(dm, ada, made, "Undo")
    await bot.tg.wait_for(lambda: made.text == "⏰ call the dentist\ntomorrow 9:00")
    await bot.press(dm, ada, made, "1 h later")
    await bot.tg.wait_for(lambda: made.text == "⏰ call the dentist\ntomorrow 10:00")
    assert list(made.buttons) == ["↩ Undo", "✎ Edit", "1 h later"]
    assert "call the dentist" in (await bot.ask(dm, ada, "/reminders")).text
    await bring_near(bot, "call the dentist")
    came = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text == "⏰ call the dentist"), None), 20
    )
    assert list(came.buttons) == ["10 min", "1 h", "Tomorrow 9:00", "✓ Done"]
    assert "again: " in await bot.press(dm, ada, came, "1 h")
    assert "call the dentist" in (await bot.ask(dm, ada, "/reminders")).text
    await bot.tg.wait_for(lambda: any("Done" in one for one in came.buttons))
    await bot.press(dm, ada, came, "Done")
    assert "You have no upcoming reminders" in (await bot.ask(dm, ada, "/reminders")).text


async def test_undo_takes_back_a_postponement_of_what_comes_every_hour(bot: SharedBot) -> None:
    ada, dm = bot.person()
    made = await bot.ask(dm, ada, "/remind every hour stretch")
    first = made.text
    await bot.press(dm, ada, made, "1 h later")
    await bot.tg.wait_for(lambda: made.text != first)
    await bot.press(dm, ada, made, "Undo")
    await bot.tg.wait_for(lambda: made.text == first)
    await bot.press(dm, ada, made, "Undo")
    await bot.tg.wait_for(lambda: "Deleted." in made.text)


async def test_a_reminder_of_several_lines_keeps_them(bot: SharedBot) -> None:
    ada, dm = bot.person()
    text = "Shopping (*big*):\nmilk\n6 eggs"
    made = await bot.ask(dm, ada, f"/remind in 1 day at 9:00 {text}")
    assert made.text == f"⏰ {text}\ntomorrow 9:00"
    assert "Shopping (*big*): milk 6 eggs" in (await bot.ask(dm, ada, "/reminders")).text
    await bring_near(bot, text)
    await bot.tg.wait_for(lambda: f"⏰ {text}" in [one.text for one in bot.tg.messages(dm)], 20)
    await bot.ask(dm, ada, "and what was that?")
    assert "milk\\n6 eggs" in str(bot.prompt("and what was that").messages[-2])


async def test_a_snooze_is_sent_however_long_ago_the_reminder_was_due(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind in 1 day at 9:00 to feed the hens")
    await bring_near(bot, "feed the hens")
    came = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text == "⏰ feed the hens"), None), 20
    )
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    shared_relay.sql("update relay.reminder_event set occurrence = occurrence - interval '25 hours'")
    assert "again: tomorrow 9:00" in await bot.press(dm, ada, came, "Tomorrow 9:00")
    await bring_near(bot, "feed the hens")
    await bot.tg.wait_for(lambda: [one.text for one in bot.tg.messages(dm)].count("⏰ feed the hens") == 2, 20)


async def test_what_is_said_before_a_snooze_ends_answers_no_question(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "Fed the geese?", "at": "2031-03-01T18:00", "kind": "ask"}
    bot.says("ask me about the geese", [tool("set_reminder", given)])
    await bot.ask(dm, ada, "ask me about the geese")
    await bring_near(bot, "Fed the geese?")
    await bot.press(dm, ada, await told(bot, dm, "Fed the geese?"), "1 h")
    await bot.ask(dm, ada, "by the way, it rains")
    await bring_near(bot, "Fed the geese?")
    await bot.tg.wait_for(lambda: [one.text for one in bot.tg.messages(dm)].count("⏰ Fed the geese?") == 2, 20)
    await bring_near(bot, "Fed the geese?")
    await told(bot, dm, "Still open: Fed the geese?")


async def test_done_takes_the_buttons_from_every_copy_of_a_question(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says(
        "ask me about the ducks", [tool("set_reminder", {"text": "Ducks?", "at": "2031-03-01T18:00", "kind": "ask"})]
    )
    await bot.ask(dm, ada, "ask me about the ducks")
    await bring_near(bot, "Ducks?")
    first = await told(bot, dm, "Ducks?")
    await bring_near(bot, "Ducks?")
    again = await told(bot, dm, "Still open: Ducks?")
    assert await bot.press(dm, ada, again, "✓ Done") == "Done."
    await bot.tg.wait_for(lambda: not first.buttons and not again.buttons)


async def test_an_answer_after_the_last_copy_takes_the_buttons_from_each(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says(
        "ask me about the hens", [tool("set_reminder", {"text": "Hens?", "at": "2031-03-01T18:00", "kind": "ask"})]
    )
    await bot.ask(dm, ada, "ask me about the hens")
    for count in range(1, 4):
        await bring_near(bot, "Hens?")
        copies = await bot.tg.wait_for(
            lambda count=count: found if len(found := asked_about(bot, dm, "Hens?")) == count else None, 20
        )
    assert all(one.buttons for one in copies)
    await bot.ask(dm, ada, "Yes, they are fed")
    await bot.tg.wait_for(lambda: not any(one.buttons for one in copies))


def asked_about(bot: SharedBot, dm: Chat, text: str) -> list[StoredMessage]:
    return [one for one in bot.tg.messages(dm) if one.text in (f"⏰ {text}", f"⏰ Still open: {text}")]


@pytest.mark.parametrize("how", ["words", "reaction"])
async def test_an_answer_takes_the_buttons_from_a_question(bot: SharedBot, how: str) -> None:
    ada, dm = bot.person()
    bot.says(
        "ask me about the swans", [tool("set_reminder", {"text": "Swans?", "at": "2031-03-01T18:00", "kind": "ask"})]
    )
    await bot.ask(dm, ada, "ask me about the swans")
    await bring_near(bot, "Swans?")
    asked = await told(bot, dm, "Swans?")
    assert asked.buttons
    if how == "words":
        await bot.ask(dm, ada, "Yes, they are fed")
    else:
        bot.tg.react(dm, ada, asked, "👍")
    await bot.tg.wait_for(lambda: not asked.buttons)
    assert [one.text for one in bot.tg.messages(dm) if "Still open" in one.text] == []


async def test_a_person_can_answer_a_reminder(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "good evening to you")
    await bot.ask(dm, ada, "/remind in 1 day at 9:00 to feed the axolotl")
    await bring_near(bot, "feed the axolotl")
    await bot.tg.wait_for(lambda: "⏰ feed the axolotl" in [one.text for one in bot.tg.messages(dm)], 20)
    await bot.ask(dm, ada, "tell me more about that one")
    *_, before, _ = bot.prompt("more about that one").messages
    assert (before["role"], "feed the axolotl" in str(before)) == ("assistant", True)
    await bot.ask(dm, ada, "/new")
    await bot.ask(dm, ada, "/remind in 1 day at 9:00 to feed the newt")
    await bring_near(bot, "feed the newt")
    await bot.tg.wait_for(lambda: "⏰ feed the newt" in [one.text for one in bot.tg.messages(dm)], 20)
    await bot.ask(dm, ada, "tell me more of the second one")
    *_, before, _ = bot.prompt("more of the second one").messages
    assert (before["role"], "feed the newt" in str(before)) == ("assistant", True)


async def test_the_model_can_set_a_reminder_and_the_answer_shows_its_time(bot: SharedBot) -> None:
    ada, dm = bot.person()
    text = "Water the plants (2 *pots*)"
    given = {"text": text, "at": "2031-03-01T18:00", "rrule": "FREQ=WEEKLY;BYDAY=SA"}
    bot.says("water my plants", [tool("set_reminder", given)])
    answer = await bot.ask(dm, ada, "please remind me to water my plants")
    assert f"⏰ 1 Mar 2031 18:00, every Saturday at 18:00: {text}" in answer.text
    assert await bot.press(dm, ada, answer, "⏰ Undo") == "Deleted."
    assert "You have no upcoming reminders" in (await bot.ask(dm, ada, "/reminders")).text
    await bot.tg.wait_for(lambda: "✎ Edit" not in answer.buttons)
    await bot.press(dm, ada, answer, "⏰ Undo")
    assert "Water the plants" in (await bot.ask(dm, ada, "/reminders")).text


async def test_a_reminder_from_forwarded_text_needs_a_tap(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("look at that", [tool("set_reminder", {"text": "Send money", "at": "2031-03-01T18:00"})])
    answer = await bot.ask(dm, ada, "look at that", forward_from="Somebody")
    assert "needs your OK: Send money" in answer.text
    await bring_near(bot, "Send money")
    assert "needs your OK" in (await bot.ask(dm, ada, "/reminders")).text
    assert await bot.press(dm, ada, answer, "✖ No") == "Deleted."


async def test_an_unclear_reminder_is_questioned(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for words, sentence in [
        ("", "When, and of what?"),
        ("hello there", "I can't tell when"),
        ("tomorrow call mum", "At what time?"),
        ("at 5 tea", "In the morning or in the afternoon?"),
        ("at 9 tea", "In the morning or in the evening?"),
        ("friday at 5 drinks", "In the morning or in the afternoon?"),
        ("2020-01-01 9:00 x", "That time has passed"),
        ("30 february 9:00 x", "That day or hour doesn't exist"),
        ("every 10 seconds x", "too often"),
        ("in 1 day at 9:00", "What should I remind you of?"),
        (f"in 1 day at 9:00 {'x' * 1100}", "a reminder can have at most 1000"),
    ]:
        assert sentence in (await bot.ask(dm, ada, f"/remind {words}".strip())).text, words
    assert "You have no upcoming reminders" in (await bot.ask(dm, ada, "/reminders")).text


async def test_a_reminder_can_be_edited_paused_and_deleted(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind every monday 8:00 bins")
    listed = await bot.ask(dm, ada, "/reminders")
    assert "every Monday at 8:00" in listed.text
    await bot.press(dm, ada, listed, "1")
    await bot.tg.wait_for(lambda: "⏸ Pause" in listed.buttons)
    await bot.press(dm, ada, listed, "Pause")
    await bot.tg.wait_for(lambda: "Paused" in listed.text)
    await bot.press(dm, ada, listed, "Resume")
    await bot.tg.wait_for(lambda: "Paused" not in listed.text)
    await bot.press(dm, ada, listed, "Edit")
    asking = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text.startswith("✎ reminder")), None)
    )
    changed = await bot.ask(dm, ada, "every friday 7:30 recycling", reply_to=asking)
    assert "recycling" in changed.text
    assert "every Friday at 7:30" in changed.text
    await bot.press(dm, ada, changed, "Edit")
    asking = await bot.tg.wait_for(
        lambda: [one for one in bot.tg.messages(dm) if one.text.startswith("✎ reminder")][1:], 10
    )
    changed = await bot.ask(dm, ada, "6:45", reply_to=asking[0])
    assert "every Friday at 6:45" in changed.text
    await bot.press(dm, ada, changed, "Delete")
    await bot.tg.wait_for(lambda: "Deleted." in changed.text)
    await bot.press(dm, ada, changed, "Undo")
    await bot.tg.wait_for(lambda: "recycling" in changed.text and "Deleted" not in changed.text)


async def test_a_new_time_is_on_the_reminders_day_and_in_the_persons_zone(bot: SharedBot) -> None:
    ada, dm = bot.person()

    async def edited(shown: StoredMessage, words: str) -> StoredMessage:
        """Presses Edit and replies with the words."""
        known = {one.message_id for one in bot.tg.messages(dm)}
        await bot.press(dm, ada, shown, "Edit")
        asking = await bot.tg.wait_for(
            lambda: next((one for one in bot.tg.messages(dm) if one.message_id not in known and one.from_bot), None)
        )
        return await bot.ask(dm, ada, words, reply_to=asking)

    made = await bot.ask(dm, ada, "/remind 2031-12-24 18:00 presents")
    assert (await edited(made, "19:30")).text == "⏰ presents\n24 Dec 2031 19:30"
    await bot.ask(dm, ada, "/settings zone America/New_York")
    assert (await edited(made, "2031-12-25 9:00")).text == "⏰ presents\n25 Dec 2031 9:00"
    assert (await edited(made, "every day 7:00")).text.endswith("7:00 · every day at 7:00")


async def test_a_reminder_put_off_can_be_paused_and_resumed(bot: SharedBot) -> None:
    ada, dm = bot.person()
    made = await bot.ask(dm, ada, "/remind 2031-01-01 9:00 skates")
    await bot.press(dm, ada, made, "1 h later")
    listed = await bot.ask(dm, ada, "/reminders")
    await bot.press(dm, ada, listed, "1")
    await bot.press(dm, ada, listed, "Pause")
    await bot.tg.wait_for(lambda: "Paused" in listed.text)
    await bot.press(dm, ada, listed, "Resume")
    await bot.tg.wait_for(lambda: listed.text.startswith("⏰ skates\n1 Jan 2031 10:00"))


async def test_a_deleted_reminder_is_not_revived_by_an_older_button_or_question(bot: SharedBot) -> None:
    ada, dm = bot.person()
    made = await bot.ask(dm, ada, "/remind every monday 8:00 bottles")
    await bot.press(dm, ada, made, "Edit")
    asking = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text.startswith("✎ reminder")), None)
    )
    listed = await bot.ask(dm, ada, "/reminders")
    for label, shown in (("1", "bottles"), ("Pause", "Paused")):
        await bot.press(dm, ada, listed, label)
        await bot.tg.wait_for(lambda: shown in listed.text)  # noqa: B023
    await bot.press(dm, ada, made, "Undo")
    await bot.tg.wait_for(lambda: "Deleted." in made.text)
    assert "gone" in await bot.press(dm, ada, listed, "Resume")
    assert "gone" in (await bot.ask(dm, ada, "friday 9:00", reply_to=asking)).text
    assert "You have no upcoming reminders" in (await bot.ask(dm, ada, "/reminders")).text


async def test_a_restored_reminder_is_what_it_was(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind every monday 8:00 paper")
    listed = await bot.ask(dm, ada, "/reminders")
    for label, shown in (("1", "paper"), ("Pause", "Paused"), ("Delete", "Deleted."), ("Undo", "Paused")):
        await bot.press(dm, ada, listed, label)
        await bot.tg.wait_for(lambda: shown in listed.text)  # noqa: B023
    bot.says("look here", [tool("set_reminder", {"text": "Send gold", "at": "2031-03-01T18:00"})])
    answer = await bot.ask(dm, ada, "look here", forward_from="Somebody")
    await bot.press(dm, ada, answer, "✖ No")
    await bot.press(dm, ada, answer, "⏰ Undo")
    await bot.tg.wait_for(lambda: "✖ No" in answer.buttons)
    assert "needs your OK" in (await bot.ask(dm, ada, "/reminders")).text
    await bot.press(dm, ada, answer, "⏰ Yes")
    assert "needs your OK" not in (await bot.ask(dm, ada, "/reminders")).text


async def test_a_reminder_that_asks_the_model_runs_at_most_hourly(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "News of the strike", "at": "2031-03-01T18:00", "rrule": "FREQ=DAILY", "kind": "check"}
    bot.says("follow the strike", [tool("set_reminder", given)])
    answer = await bot.ask(dm, ada, "please follow the strike")
    await bot.press(dm, ada, answer, "✎ Edit")
    asking = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text.startswith("✎ reminder")), None)
    )
    assert "at least an hour" in (await bot.ask(dm, ada, "every 10 minutes", reply_to=asking)).text
    assert "every 2 hours" in (await bot.ask(dm, ada, "every 2 hours", reply_to=asking)).text
    assert "such as: every day 23:30" in (await bot.ask(dm, ada, "23:30", reply_to=asking)).text


async def test_a_new_answer_removes_the_reminders_of_the_former_one(bot: SharedBot) -> None:
    ada, dm = bot.person()
    tea = tool("set_reminder", {"text": "Tea", "at": "2031-03-01T18:00"})
    cake = tool("set_reminder", {"text": "Cake", "at": "2031-03-01T19:00"})
    milk = tool("set_reminder", {"text": "Buy milk", "mention": "shop"})
    said, answer = await exchange(bot, dm, ada, "remind me of cake", [tea, milk])

    async def reworded(text: str, says: object, shown: str) -> str:
        """Edits the message, waits for the new answer and returns the list of reminders."""
        bot.says(text, says)
        bot.tg.edit(dm, said, text)
        await bot.tg.wait_for(lambda: AGAIN in answer.buttons)
        await bot.press(dm, ada, answer, AGAIN)
        await bot.tg.wait_for(lambda: shown in answer.text)
        return (await bot.ask(dm, ada, "/reminders")).text

    first = (await bot.ask(dm, ada, "/reminders")).text
    assert (first.count("Tea"), first.count("Buy milk")) == (1, 1)
    second = await reworded("remind me of tea, and cake", [tea, cake], "Cake")
    assert (second.count("Tea"), second.count("Cake"), second.count("milk")) == (1, 1, 0)
    assert "You have no upcoming reminders" in await reworded("remind me of nothing", "As you like.", "As you like")


async def test_quiet_holds_back_reminders(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind 2031-01-01 9:00 quiet thing")
    assert "I'm quiet. I'll speak up again when you write" in (await bot.ask(dm, ada, "/quiet on")).text
    await bring_near(bot, "quiet thing")
    await bot.ask(dm, ada, "hello")
    assert not any(one.text.startswith("⏰ quiet thing\n\n") for one in bot.tg.messages(dm))
    assert "I speak up" in (await bot.ask(dm, ada, "/quiet off")).text
    await told(bot, dm, "quiet thing")


async def test_only_its_administrators_and_admins_make_relay_quiet_in_a_group(bot: SharedBot) -> None:
    (ada, dm), (ben, _), olga = bot.person(), bot.person("Ben"), bot.tg.user(OWNER, "Olga")
    group, at = bot.group(ada, ben, olga), f"@{bot.tg.bot.username}"
    bot.tg.set_member(group, ada, "administrator")
    for person, text, told in (
        (ben, "on", "In a group, only its administrators and my admins can do that"),
        (ben, "", "Its administrators can hold my messages back"),
        (ada, "on", "I'm quiet in this group. I'll speak up again when its administrators write /quiet off."),
        (ben, "off", "In a group, only its administrators and my admins can do that"),
        (ben, "", "I'm quiet in this group. I'll speak up again"),
        (olga, "off", "I speak up in this group when something is due."),
    ):
        assert told in (await bot.ask(group, person, f"/quiet{at} {text}".strip())).text
    assert "I'm quiet. I'll speak up again when you write" in (await bot.ask(dm, ada, "/quiet on")).text
    assert "I speak up" in (await bot.ask(dm, ada, "/quiet off")).text


async def test_who_may_not_set_a_groups_digest_is_not_told_how(bot: SharedBot) -> None:
    (ada, dm), olga, at = bot.person(), bot.tg.user(OWNER, "Olga"), f"@{bot.tg.bot.username}"
    group = bot.group(ada, olga)
    assert (await bot.ask(group, ada, f"/digest{at}")).text == (
        "The digest is off. In this group, my admins set that. /digest now shows the last 24 hours."
    )
    for chat, person in ((group, olga), (dm, ada)):
        assert "/digest on sends one every night" in (await bot.ask(chat, person, f"/digest{at}")).text


async def test_a_reminder_can_be_triggered_by_a_mention(bot: SharedBot) -> None:
    ada, dm = bot.person()
    made = await bot.ask(dm, ada, "/remind when I mention dentist: take the insurance card")
    assert "When you mention “dentist”: take the insurance card" in made.text
    await bot.ask(dm, ada, "I'm off to the bakery now")
    assert "insurance card" not in str(bot.prompt("bakery").messages[-1])
    await bot.ask(dm, ada, "My Dentists are open today")
    assert "reminded of this when they mention it: dentist: take the insurance card" in str(
        bot.prompt("Dentists are open").messages[-1]
    )
    await bot.ask(dm, ada, "the dentist again, same day")
    assert "insurance card" not in str(bot.prompt("same day").messages[-1]), "it triggers at most once a day"
    listed = await bot.ask(dm, ada, "/reminders")
    assert "dentist: take the insurance card" in listed.text
    await bot.press(dm, ada, listed, "dentist")
    await bot.tg.wait_for(lambda: "2 more times" in listed.text)
    await bot.press(dm, ada, listed, "Delete")
    await bot.tg.wait_for(lambda: "Deleted." in listed.text)


async def test_every_mention_can_be_reached_and_deleted(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind when otter: photo")
    for number in range(7):
        await bot.ask(dm, ada, f"/remind when badger{number}: note")
    listed = await bot.ask(dm, ada, "/reminders")
    assert "otter" not in listed.text
    for label, shown in (("Later", "otter: photo"), ("otter", "When you mention “otter”"), ("Delete", "Deleted.")):
        await bot.press(dm, ada, listed, label)
        await bot.tg.wait_for(lambda: shown in listed.text)  # noqa: B023


async def test_the_heartbeat_can_be_turned_on_and_off(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "The heartbeat is off" in (await bot.ask(dm, ada, "/heartbeat")).text
    assert "Every 6 h between 9:00 and 20:00" in (await bot.ask(dm, ada, "/heartbeat on every 6h 9-20")).text
    assert "The second hour must be later" in (await bot.ask(dm, ada, "/heartbeat on 20-9")).text
    assert "A day has 24 hours." in (await bot.ask(dm, ada, "/heartbeat on every 4h 8-25")).text
    assert "Choose an interval from 1 to 24 hours." in (await bot.ask(dm, ada, "/heartbeat on every 100h")).text
    await bot.ask(dm, ada, "/heartbeat edit")
    asking = next(one for one in reversed(bot.tg.messages(dm)) if one.text.startswith("✎ checklist"))
    assert "my parcels" in (await bot.ask(dm, ada, "my parcels", reply_to=asking)).text
    assert "The heartbeat is off" in (await bot.ask(dm, ada, "/heartbeat off")).text


async def test_the_hours_of_a_digest_and_a_heartbeat_are_those_of_the_persons_zone(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/digest at 7:30")
    await bot.ask(dm, ada, "/heartbeat on every 4h 8-21")
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    for words, zone in (("Tokyo", "Asia/Tokyo"), ("server", "Europe/Berlin")):
        await bot.ask(dm, ada, f"/settings zone {words}")
        assert shared_relay.sql(
            "select d.zone, h.zone, to_char(j.due_at at time zone d.zone, 'HH24:MI'),"
            " j.due_at between now() and now() + interval '25 hours' from relay.digest d join relay.heartbeat h"
            " using (space_id) join relay.job j on j.kind = 'digest' and j.key = space_id::text where d.user_id = %s",
            ada.id,
        ) == [(zone, zone, "07:30", True)]


async def test_reminders_can_be_sent_as_a_calendar_file(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind every monday 8:00 bins")
    sent = await bot.ask(dm, ada, "/reminders ics")
    assert "1 reminder as a calendar file" in (sent.text or sent.raw.get("caption", ""))
    await bot.tg.wait_for(lambda: any("document" in one.raw for one in bot.tg.messages(dm)))


async def test_a_morning_digest_lists_the_reminders_due_that_day(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "or a time: /digest at 7:30" in (await bot.ask(dm, ada, "/digest at noon")).text
    assert "or a time: /digest at 7:30" in (await bot.ask(dm, ada, "/digest at 25:00")).text
    assert "or a time: /digest at 7:30" in (await bot.ask(dm, ada, "/digest never")).text
    assert "Every day at 19:30" in (await bot.ask(dm, ada, "/digest 19:30")).text
    assert "Every day at 7:30" in (await bot.ask(dm, ada, "/digest at 7:30")).text
    assert "every day at 7:30" in (await bot.ask(dm, ada, "/digest")).text
    await bot.ask(dm, ada, "/remind in 3 hours water the *palms*")
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    shared_relay.sql("update relay.job set due_at = now() where kind = 'digest'")
    came = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text.startswith("⏰ Due today")), None), 240
    )
    assert "water the *palms*" in came.text
    assert came.silent
    await bot.ask(dm, ada, "tell me more about the plants")
    before = bot.prompt("more about the plants").messages[-2]
    assert (before["role"], "water the *palms*" in str(before)) == ("assistant", True)
    assert "won't send digests" in (await bot.ask(dm, ada, "/digest off")).text
    assert "is off" in (await bot.ask(dm, ada, "/digest")).text
