"""What the model does about reminders, and what people say without a time: details that words leave to them."""

from __future__ import annotations

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.test_reminders import bring_near
from tests.standins.anthropic import Recorded, tool

pytestmark = SESSION


async def test_the_model_sets_how_soon_a_question_is_repeated_and_deletes_it(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "Paid the rent?", "at": "2031-03-01T18:00", "kind": "ask", "again_minutes": 15}
    bot.says("ask me about the rent", [tool("set_reminder", given)])
    await bot.ask(dm, ada, "ask me about the rent")
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    [(number, minutes)] = shared_relay.sql(
        "select id, repeat_minutes from relay.reminder where text = 'Paid the rent?'"
    )
    assert minutes == 15
    bot.says("it is paid", [tool("delete_reminder", {"id": number})])
    assert "⏰ Deleted: Paid the rent?" in (await bot.ask(dm, ada, "it is paid")).text
    assert "You have no upcoming reminders" in (await bot.ask(dm, ada, "/reminders")).text


async def test_the_model_cannot_guess_an_hour(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("my tax return", [tool("set_reminder", {"text": "Tax", "at": "2031-03-01"})])
    assert "⏰" not in (await bot.ask(dm, ada, "remind me of my tax return")).text
    assert "needs a time of day" in str(bot.prompt("my tax return").messages[-1])


async def test_the_time_in_another_zone_is_shown_in_ones_own(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "Call Aiko", "at": "2031-03-01T18:00", "zone": "Asia/Tokyo"}
    bot.says("remind me of Aiko", [tool("set_reminder", given)])
    answer = await bot.ask(dm, ada, "remind me of Aiko")
    assert "⏰ 1 Mar 2031 10:00: Call Aiko" in answer.text
    await bot.press(dm, ada, answer, "1 h later")
    await bot.tg.wait_for(lambda: any("1 Mar 2031 11:00" in one for one in answer.buttons))
    await bot.press(dm, ada, answer, "Undo")
    await bot.tg.wait_for(lambda: "1 h later" in answer.buttons)
    await bot.tg.wait_for(lambda: "⏰ 1 Mar 2031 10:00: Call Aiko" in answer.text)


async def test_undo_under_an_answer_takes_back_a_postponement_of_what_comes_every_hour(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "Stretch", "at": "2031-03-01T18:00", "rrule": "FREQ=HOURLY"}
    bot.says("remind me to stretch", [tool("set_reminder", given)])
    answer = await bot.ask(dm, ada, "remind me to stretch")
    before = answer.text
    await bot.press(dm, ada, answer, "1 h later")
    await bot.tg.wait_for(lambda: any("💤" in one for one in answer.buttons) and answer.text != before)
    await bot.press(dm, ada, answer, "Undo")
    await bot.tg.wait_for(lambda: "1 h later" in answer.buttons and answer.text == before)


async def test_a_check_says_in_its_history_why_it_was_silent_and_usage_tells_its_cost(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "News of the strike", "at": "2031-03-01T18:00", "rrule": "FREQ=DAILY", "kind": "check"}
    bot.says("watch the strike", [tool("set_reminder", given)])
    await bot.ask(dm, ada, "watch the strike")
    bot.model.rule(lambda request: "notify" in request.tool_names, [tool("notify", {"send": False})], model="haiku")
    await bring_near(bot, "News of the strike")
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    await shared_relay.until("select exists (select from relay.reminder_event where kind = 'looked')")
    listed = await bot.ask(dm, ada, "/reminders")
    await bot.press(dm, ada, listed, "1")
    await bot.tg.wait_for(lambda: "looked, nothing to say" in listed.text)
    assert "Unprompted (part of the total): 1 call for checks" in (await bot.ask(dm, ada, "/usage")).text


async def test_a_mention_is_recognised_with_other_articles_and_in_the_singular(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remind when I mention the plumbers, ask for the invoice")
    await bot.ask(dm, ada, "/remind wenn ich vom Zahnarzt spreche: Karte mitnehmen")
    await bot.ask(dm, ada, "my plumber came today")
    assert "ask for the invoice" in str(bot.prompt("my plumber came").messages[-1])
    await bot.ask(dm, ada, "morgen muss ich zum Zahnarzt")
    assert "Karte mitnehmen" in str(bot.prompt("zum Zahnarzt").messages[-1])


async def test_quiet_is_for_a_time_or_until_one(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for words in ("2h", "for 2h", "für 2 Stunden"):
        said = await bot.ask(dm, ada, f"/quiet {words}")
        assert said.raw["entities"][0]["unix_time"] - said.raw["date"] in range(7190, 7210), words
    assert "8:00" in (await bot.ask(dm, ada, "/quiet bis 8")).text
    assert "8:00" in (await bot.ask(dm, ada, "/quiet until 8")).text
    assert "Until when?" in (await bot.ask(dm, ada, "/quiet every day 8:00")).text
    for words in ("for 10", "1d 2h"):
        assert "I speak up" not in (await bot.ask(dm, ada, f"/quiet {words}")).text
    assert "Write 05:00 or 17:00" in (await bot.ask(dm, ada, "/quiet at 5")).text
    assert "I speak up" in (await bot.ask(dm, ada, "/quiet off")).text


async def test_a_check_can_look_things_up_before_it_speaks(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "The ferry to Heligoland sails again from Monday")
    given = {"text": "Is there news of the boat", "at": "2031-03-01T18:00", "kind": "check"}
    bot.says("watch the boat", [tool("set_reminder", given)])
    await bot.ask(dm, ada, "watch the boat")

    def asks(request: Recorded) -> bool:
        return "notify" in request.tool_names

    told = {"send": True, "text": "The ferry sails again from Monday."}
    bot.model.rule(asks, [tool("notify", told)], model="haiku")
    bot.model.rule(asks, [tool("search_memory", {"query": "ferry Heligoland"})], times=1, model="haiku")
    await bring_near(bot, "Is there news of the boat")
    await bot.tg.wait_for(lambda: any(one.text.startswith("🔎 The ferry sails") for one in bot.tg.messages(dm)), 20)
    [first, second] = [one for one in bot.model.requests if asks(one)]
    assert first.tool_names == ["notify", "search_memory", "open_memory", "read_document"]
    assert "sails again from Monday" in str(second.tool_results)


async def test_the_limits_of_a_mention_can_be_said_and_the_model_ends_it(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "Ask for Leo", "mention": "Maria", "mention_hours": 0, "mention_times": 5, "mention_days": 7}
    bot.says("about Maria", [tool("set_reminder", given)])
    await bot.ask(dm, ada, "tell me to ask for Leo when I talk about Maria")
    for text in ("I saw Maria at noon", "and Maria in the evening"):
        await bot.ask(dm, ada, text)
        assert "Ask for Leo" in str(bot.prompt(text).messages[-1])
    listed = await bot.ask(dm, ada, "/reminders")
    await bot.press(dm, ada, listed, "Maria")
    await bot.tg.wait_for(lambda: "Each time, up to 3 more times until " in listed.text)
    bot.says("no longer", [tool("delete_reminder", {"mention": "maria"})])
    await bot.ask(dm, ada, "no longer, please")
    await bot.ask(dm, ada, "Maria once more")
    assert "Ask for Leo" not in str(bot.prompt("Maria once more").messages[-1])
    bot.says("too often", [tool("set_reminder", {**given, "mention_times": 1000})])
    await bot.ask(dm, ada, "too often")
    assert "mention_times is from 1 to 100" in str(bot.prompt("too often").messages[-1])


async def test_why_says_where_an_unasked_message_comes_from(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "good day")
    await bot.ask(dm, ada, "/remind in 1 day at 9:00 to feed the koi")
    await bring_near(bot, "feed the koi")
    came = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text == "⏰ feed the koi"), None), 20
    )
    # Its number in the chat is stored once Telegram has confirmed it, just after it is shown.
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    await shared_relay.until(
        "select exists (select from relay.posted where chat_id = %s and telegram_message_id = %s)",
        dm.id, came.message_id,
    )  # fmt: skip
    said = (await bot.ask(dm, ada, "/why", reply_to=came)).text
    assert "it's your reminder of 20" in said
    assert "No model was asked." in said


async def test_the_model_moves_a_rule_without_ending_it(bot: SharedBot) -> None:
    ada, dm = bot.person()
    given = {"text": "Water the ferns", "at": "2031-03-01T18:00", "rrule": "FREQ=WEEKLY;BYDAY=SA"}
    bot.says("my ferns", [tool("set_reminder", given)])
    await bot.ask(dm, ada, "remind me of my ferns")
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    [(number,)] = shared_relay.sql("select id from relay.reminder where text = 'Water the ferns'")
    for words, change, shown in [
        ("an hour earlier", {"at": "2031-03-01T17:00"}, "every Saturday at 17:00: Water"),
        ("only once then", {"at": "2031-03-01T17:00", "rrule": ""}, "1 Mar 2031 17:00: Water"),
    ]:
        bot.says(words, [tool("change_reminder", {"id": number, **change})])
        assert shown in (await bot.ask(dm, ada, words)).text
