"""How often a reminder comes, in words."""

from __future__ import annotations

import pytest

from relay.memory.rows.proactive.rule_words import say_rule
from tests.unit.test_due import due


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=DAILY", "every day at 8:00"),
        ("FREQ=HOURLY;BYHOUR=9,10,11", "every hour from 9:00 to 11:00"),
        ("FREQ=MINUTELY;INTERVAL=30;BYHOUR=9,10,11", "every 30 minutes from 9:00 to 12:00"),
        ("FREQ=DAILY;COUNT=1", "every day at 8:00, 1 time"),
        ("FREQ=DAILY;BYMONTH=6", "every day in June at 8:00"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every weekday at 8:00"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH", "every 2 weeks on Monday and Thursday at 8:00"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "every month on the last Friday at 8:00"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2", "every month on the second Monday at 8:00"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "every month on the last weekday at 8:00"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR", "every month on weekdays at 8:00"),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "every month on Friday that is the 13th at 8:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1", "every month on the 31st (or the last day) at 8:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=-2", "every month on the 2nd to last day at 8:00"),
        ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "every year on 24 December at 8:00"),
        ("FREQ=YEARLY;BYMONTH=3,4;BYMONTHDAY=1", "every year on 1 March and April at 8:00"),
        ("FREQ=YEARLY;BYMONTH=5;BYDAY=2SU", "every year on the second Sunday in May at 8:00"),
        ("FREQ=DAILY;UNTIL=20300110T235959", "every day at 8:00 until 2030-01-10"),
        ("FREQ=DAILY;UNTIL=20300110T075959", "every day at 8:00 until 2030-01-09"),
        ("FREQ=DAILY;UNTIL=soon", "by the rule FREQ=DAILY;UNTIL=soon"),
        ("FREQ=FOO", "by the rule FREQ=FOO"),
        ("FREQ=WEEKLY;BYDAY=XX", "by the rule FREQ=WEEKLY;BYDAY=XX"),
        ("nonsense", "by the rule nonsense"),
        ("FREQ=DAILY;BYHOUR=8,20", "every day at 8:00 and 20:00"),
        ("FREQ=HOURLY;INTERVAL=2;BYHOUR=9,10,11,12", "every 2 hours from 9:00 to 13:00"),
        ("FREQ=HOURLY;BYHOUR=0,1,22,23", "every hour from 22:00 to 1:00"),
        ("FREQ=MINUTELY;INTERVAL=30;BYHOUR=0,1,22,23", "every 30 minutes from 22:00 to 2:00"),
        ("FREQ=MINUTELY;INTERVAL=15;UNTIL=20300107T180000", "every 15 minutes until 18:00"),
        ("FREQ=MINUTELY;INTERVAL=10;UNTIL=20300107T085959", "every 10 minutes until 9:00"),
        ("FREQ=HOURLY;BYHOUR=6,7,8;UNTIL=20300110T075959", "every hour from 6:00 to 8:00 until 2030-01-10"),
        ("FREQ=DAILY;BYHOUR=8,20;UNTIL=20300110T195959", "every day at 8:00 and 20:00 until 2030-01-10"),
        ("FREQ=HOURLY;BYHOUR=9,15", "every hour in the hours from 9:00 and 15:00"),
    ],
)
def test_a_rule_is_said_completely(rule: str, said: str) -> None:
    assert say_rule(rule, due().start_at) == said


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=DAILY;COUNT=3", "every day at 8:00 (Asia/Tokyo), 3 times"),
        ("FREQ=HOURLY;BYHOUR=9,10,11", "every hour from 9:00 to 11:00 (Asia/Tokyo)"),
        ("FREQ=MINUTELY;INTERVAL=30;BYHOUR=9,15", "every 30 minutes in the hours from 9:00 and 15:00 (Asia/Tokyo)"),
        ("FREQ=HOURLY;INTERVAL=8", "every 8 hours"),
    ],
)
def test_another_zone_is_named_with_the_hours(rule: str, said: str) -> None:
    assert say_rule(rule, due().start_at, "Asia/Tokyo") == said
