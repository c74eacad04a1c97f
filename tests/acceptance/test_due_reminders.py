"""When reminders come: in another time zone, by day, until somebody answers, and in a group."""

from __future__ import annotations

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.test_reminders import bring_near, told
from tests.standins.anthropic import tool

pytestmark = SESSION


async def test_reminders_that_repeat_keep_their_hours_where_the_person_goes(bot: SharedBot) -> None:
    ada, dm = bot.person()
    at = {"at": "2031-01-06T18:00", "rrule": "FREQ=DAILY", "zone": "Asia/Tokyo"}
    bot.says("call tokyo", [tool("set_reminder", {"text": "call Ken", **at})])
    await bot.ask(dm, ada, "every day, call tokyo")
    await bot.ask(dm, ada, "/remind every day 8:00 pill")
    await bot.ask(dm, ada, "/remind 2031-12-24 18:00 presents")
    told = await bot.ask(dm, ada, "/settings zone America/New_York")
    assert told.text.endswith("From now on, your repeating reminder keeps its hours there: /reminders")
    listed = (await bot.ask(dm, ada, "/reminders")).text
    assert "8:00 · every day at 8:00\n" in listed
    assert "every day at 18:00 (Asia/Tokyo)" in listed
    assert "24 Dec 2031 12:00" in listed, "the moment of what comes once stays"
    assert "your repeating reminder" in (await bot.ask(dm, ada, "/settings zone server")).text
    assert "every day at 8:00\n" in (await bot.ask(dm, ada, "/reminders")).text


async def test_what_is_over_soon_stays_in_its_zone(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/settings zone UTC")
    await bot.ask(dm, ada, "/remind every 30 minutes for 2 hours oven")
    before = (await bot.ask(dm, ada, "/reminders")).text
    assert "your reminder" not in (await bot.ask(dm, ada, "/settings zone Pacific/Kiritimati")).text
    listed = (await bot.ask(dm, ada, "/reminders")).text
    assert "oven" in before
    assert "oven" in listed
    assert "over" not in listed


async def test_a_groups_reminder_mentions_who_asked_and_anybody_marks_it_as_done(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    group, name = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    await bot.ask(group, ada, f"hello {name}")
    await bot.ask(group, ada, f"/remind{name} 2031-01-01 9:00 take out the bins")
    await bring_near(bot, "take out the bins")
    came = await told(bot, group, "Ada: take out the bins")
    [entity] = came.raw["entities"]
    assert entity["url"] == f"tg://user?id={ada.id}"
    assert "Done" in await bot.press(group, ben, came, "Done")
    await bot.tg.wait_for(lambda: not came.buttons)


async def test_missed_reminders_are_put_off_or_done_one_by_one(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for text in ("water the figs", "feed the carp"):
        await bot.ask(dm, ada, f"/remind 2031-01-01 9:00 {text}")
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    shared_relay.sql(
        "update relay.reminder set next_at = now() - interval '3 days', start_at = now() - interval '3 days'"
        " where text in ('water the figs', 'feed the carp')"
    )
    shared_relay.sql("update relay.job set due_at = now() where kind = 'reminder'")
    came = await told(bot, dm, "Missed in the meantime:")
    assert came.text.splitlines()[1].startswith("1. ")
    first, second = (line.split(" ", 1)[1].split(" (")[0] for line in came.text.splitlines()[1:])
    assert "again: tomorrow 9:00" in await bot.press(dm, ada, came, "1: tomorrow 9:00")
    await bot.tg.wait_for(lambda: "1: 💤 tomorrow 9:00 · ✓ Done" in came.buttons)
    await bot.press(dm, ada, came, "2: ✓")
    await bot.tg.wait_for(lambda: list(came.buttons) == ["1: 💤 tomorrow 9:00 · ✓ Done"])
    listed = (await bot.ask(dm, ada, "/reminders")).text
    assert first in listed
    assert second not in listed


async def test_what_comes_every_few_hours_comes_by_day_and_at_the_hours_that_are_named(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "every 2 hours from 8:00 to 21:00" in (await bot.ask(dm, ada, "/remind every 2 hours drink water")).text
    given = {"text": "pill", "at": "2031-03-01T08:00", "rrule": "FREQ=DAILY;BYHOUR=8,20"}
    bot.says("twice a day", [tool("set_reminder", given)])
    assert "every day at 8:00 and 20:00" in (await bot.ask(dm, ada, "remind me twice a day")).text


async def test_a_person_who_leaves_a_group_reminds_it_of_nothing_more_and_is_told(bot: SharedBot) -> None:
    (ada, dm), (ben, _), (mia, _) = bot.person(), bot.person("Ben"), bot.person("Mia")
    group, name = bot.group(ben, ada, mia), f"@{bot.tg.bot.username}"
    await bot.ask(group, ada, f"/remind{name} 2031-01-01 9:00 fetch the key")
    await bot.ask(group, ben, f"/remind{name} 2031-01-01 9:00 water the plants")
    await bot.ask(dm, ada, "/start")
    bot.tg.remove_member(group, ada)
    await bot.tg.wait_for(lambda: any("You're no longer in “Group”" in one.text for one in bot.tg.messages(dm)))
    listed = (await bot.ask(group, ben, f"/reminders{name}")).text
    assert "fetch the key\npaused" in listed
    assert "water the plants\n1 Jan 2031 9:00" in listed
    assert not [one.text for one in bot.tg.messages(group) if one.from_bot and "left" in one.text]
