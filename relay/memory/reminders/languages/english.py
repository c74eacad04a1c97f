"""English."""

from __future__ import annotations

import re

from relay.memory.reminders.languages.language import (
    AFTERNOON,
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    MORNING,
    NIGHT,
    WEEK,
    YEAR,
    Language,
    named,
    words,
)

ENGLISH = Language(
    code="en",
    example="friday 8:00",
    numbers=named(
        "zero,one a an,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,sixteen,"
        "seventeen,eighteen,nineteen,twenty"
    ) | {
        "thirty": 30, "forty": 40, "fifty": 50, "ninety": 90, "other": 2,
        **{f"{ten}-{one}": 10 * tens + ones
           for tens, ten in enumerate(("twenty", "thirty", "forty", "fifty"), 2)
           for ones, one in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), 1)},
    },
    units={
        **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
        **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), HOUR),
        **dict.fromkeys(("d", "day", "days"), DAY),
        **dict.fromkeys(("w", "week", "weeks"), WEEK),
        **dict.fromkeys(("month", "months"), MONTH),
        **dict.fromkeys(("y", "year", "years"), YEAR),
    },
    seconds=words("second seconds sec secs"),
    weekdays=named(
        "monday,tuesday tues,wednesday,thursday thurs thur,friday,saturday,sunday"
    ),
    short_weekdays=named("mon,tue,wed,thu,fri,sat,sun"),
    announcing=words("on every each"),
    months={name: place + 1 for name, place in named(
        "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,october oct,"
        "november nov,december dec"
    ).items()},
    days={"yesterday": -1, "today": 0,
          **dict.fromkeys(("tomorrow", "tommorow", "tomorow", "tommorrow", "tmrw", "tmr"), 1),
          "the day after tomorrow": 2, "day after tomorrow": 2},
    clocks={"noon": (12, 0), "midday": (12, 0), "midnight": (24, 0)},
    parts={"morning": MORNING, "afternoon": AFTERNOON, "evening": AFTERNOON, "night": NIGHT, "overnight": NIGHT},
    tonight=words("tonight"),
    inside=words("in"),
    at=words("at @ around"),
    on=words("on the"),
    every=words("every each"),
    following=words("next"),
    this=words("this coming"),
    oclock=words("o'clock oclock"),
    ordinal=re.compile(r"(\d{1,2})(?:st|nd|rd|th)"),
    ordinals={"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1},
    rhythms={"hourly": HOUR, "daily": DAY, "weekly": WEEK, "monthly": MONTH, "yearly": YEAR, "annually": YEAR},
    plural_weekdays=named("mondays,tuesdays,wednesdays,thursdays,fridays,saturdays,sundays"),
    workdays=words("weekday weekdays workday workdays"),
    weekends=words("weekend weekends"),
    weekly=words("weekdays workdays weekends"),
    until=words("until till"),
    windows={"from": words("to until till - –"), "between": words("and")},
    through=words("to through thru - – —"),
    limits=words("by before after from since between until till or past to than"),
    goes_on=words("until till starting from except"),
    barring=frozenset(("but not", "not on")),
    feasts={
        "new year's eve": (12, 31), "new year's day": (1, 1), "christmas eve": (12, 24), "christmas day": (12, 25),
        "valentine's day": (2, 14), "halloween": (10, 31),
    },
    times=words("times"),
    past=words("past"),
    to=words("to"),
    quarter=words("quarter"),
    half_past=words("half"),
    before={},
    joins=words("and &"),
    either=words("or"),
    articles=words("a an"),
    spans={
        "half an hour": 30, "a half hour": 30, "half hour": 30, "three quarters of an hour": 45,
        "quarter of an hour": 15, "a quarter of an hour": 15,
        **{f"{one} and a half hours": 60 * hours + 30
           for hours, names in enumerate(("two 2", "three 3", "four 4", "five 5"), 2) for one in names.split()},
        "an hour and a half": 90, "one hour and a half": 90, "1 hour and a half": 90,
    },
    edges=words("end beginning start middle early mid late"),
    vague=words("everyday nightly biweekly fortnightly bimonthly quarterly"),
    seasons=words("christmas xmas easter pentecost thanksgiving") | {
        "mother's day", "mothers day", "father's day", "fathers day", "labor day", "labour day", "memorial day",
        "boxing day", "black friday", "good friday", "ash wednesday", "easter sunday", "easter monday", "cyber monday",
        "new year",
    },
    periods=words("quarter fortnight semester season spring summer autumn fall winter holidays birthday payday"),
    during=words("on during over"),
    concerning=words("about"),
    adjectives=words("daily weekly monthly yearly"),
    counts=words("once twice thrice"),
    per=words("per each every"),
    from_now=words("from"),
    now=words("now"),
    measures=words("km mile miles kg g ml l liter liters litre litres euro euros eur € $ dollar dollars £ % percent"),
    counted=words(
        "push-ups pushups press-ups sit-ups situps pull-ups pullups squats lunges burpees crunches planks reps sets "
        "laps steps pages words cards glasses cups people guests"
    ),
    lasting=words("for"),
    of=words("of"),
    meridiem={"am": 0, "a.m.": 0, "a.m": 0, "pm": 12, "p.m.": 12, "p.m": 12},
    other=words("other"),
    nought=words("oh"),
    nights_too=words("24/7") | {
        "around the clock", "round the clock", "day and night", "night and day", "all day and night", "also at night",
        "even at night", "at night too", "at night as well",
    },
    leading=words("me us please"),
    linking=words("to that about"),
)  # fmt: skip
