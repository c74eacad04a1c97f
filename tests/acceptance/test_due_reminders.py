"""When reminders come: in another time zone, by day, until somebody answers, and in a group."""

from __future__ import annotations

from tests.acceptance.shared_bot import SESSION, SharedBot
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
    assert told.text.endswith("From now on, your reminder that repeats keeps its hours there: /reminders")
    listed = (await bot.ask(dm, ada, "/reminders")).text
    assert "8:00 · every day at 8:00\n" in listed
    assert "every day at 18:00 (Asia/Tokyo)" in listed
    assert "24 Dec 2031 12:00" in listed, "the moment of what comes once stays"
    assert "your reminder that repeats" in (await bot.ask(dm, ada, "/settings zone server")).text
    assert "every day at 8:00\n" in (await bot.ask(dm, ada, "/reminders")).text
