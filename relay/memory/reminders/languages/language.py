"""The structure of a language's table. Words are in lower case, with ss for ß."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from relay.core.frozen import frozen

MINUTE, HOUR, DAY, WEEK, MONTH, YEAR = "minute", "hour", "day", "week", "month", "year"
UNITS = (MINUTE, HOUR, DAY, WEEK, MONTH, YEAR)
MORNING, NOON, AFTERNOON, NIGHT = "morning", "noon", "afternoon", "night"
WORKDAYS, WEEKEND = (0, 1, 2, 3, 4), (5, 6)

Words = frozenset[str]


def words(text: str) -> Words:
    """Returns the words of a text."""
    return frozenset(text.split())


def named(text: str) -> dict[str, int]:
    """Numbers the groups of a text, which commas separate, from 0; each group lists names of one thing."""
    return {name: place for place, group in enumerate(text.split(",")) for name in group.split()}


@frozen
class Language:
    """The words with which one language says when."""

    code: str
    example: str
    """A phrase with an hour, as an example for people who forgot it."""
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    """Words for the units MINUTE … YEAR."""
    seconds: Words
    """Words for the unit that is too small for reminders."""
    weekdays: Mapping[str, int]
    """Names of the weekdays; Monday is 0."""
    short_weekdays: Mapping[str, int]
    """Abbreviations that are also words: they count only before an hour or a date, or after one of `announcing`."""
    announcing: Words
    """Words right before a day: on, every."""
    months: Mapping[str, int]
    """Names of the months; January is 1."""
    days: Mapping[str, int]
    """Words for a day, as days from today: tomorrow is 1. A name may have several words."""
    clocks: Mapping[str, tuple[int, int]]
    """Words for a time, such as noon; 24 is the end of the day."""
    parts: Mapping[str, str]
    """Words for MORNING … NIGHT; an evening is AFTERNOON: 8 in the evening is 20."""
    tonight: Words
    """Words for today at night."""
    inside: Words
    """Words before a span: in 20 minutes."""
    at: Words
    on: Words
    every: Words
    following: Words
    """Words as in next Friday, which may mean one of two."""
    this: Words
    oclock: Words
    ordinal: re.Pattern[str]
    """Matches a day of a month, such as 1st; its number is group 1."""
    ordinals: Mapping[str, int]
    """First … fourth, and last as -1, for the weekdays of a month."""
    rhythms: Mapping[str, str]
    """Words such as daily, with their units."""
    plural_weekdays: Mapping[str, int]
    """Words for every Monday in one word."""
    workdays: Words
    """Words for Monday to Friday."""
    weekends: Words
    weekly: Words
    """Those words for workdays and weekends that mean every one: weekdays, but not weekday."""
    until: Words
    windows: Mapping[str, Words]
    """Words before the first hour of a rhythm, with those before its last: from 9 to 18."""
    through: Words
    """Words between the first and the last of several days: monday to friday."""
    limits: Words
    """Words before a time that show that it isn't the time of the reminder: by, before, from."""
    goes_on: Words
    """Words after a rule that continue it: except."""
    barring: Words
    """Two words that take days out of a rule: but not."""
    feasts: Mapping[str, tuple[int, int]]
    """Days with a name, as (month, day)."""
    times: Words
    past: Words
    """Words as in a quarter past 9."""
    to: Words
    quarter: Words
    half_past: Words
    """Words for half past, followed by `past`."""
    before: Mapping[str, int]
    """How many minutes before the following hour a word means: halb 10 is 9:30."""
    joins: Words
    """Words for and."""
    either: Words
    """Words for or."""
    articles: Words
    """Numbers that are also articles: a."""
    spans: Mapping[str, int]
    """Spans with a name, in minutes: half an hour."""
    from_now: Words
    """Words as in 20 minutes from now, followed by `now`."""
    now: Words
    measures: Words
    """Words after a number that counts something and isn't an hour: km, euro."""
    counted: Words
    """Words after a number that counts something if another hour comes before: at 9 and 20 pushups; but not at 9
    pushups."""
    lasting: Words
    """Words as in for 5 days."""
    of: Words
    """Words as in of the month."""
    edges: Words
    """Words for a part of a month or week: end, late."""
    vague: Words
    """Words for a day or a rhythm that isn't read: nightly."""
    seasons: Words
    """Feasts that have no fixed date, or several days. A name may have two words."""
    periods: Words
    """Words for a span or a day without a date, if a word such as every or in comes before: quarter, summer."""
    during: Words
    """Words before one of `periods`, other than `inside`, `every`, `this` and `following`."""
    concerning: Words
    """Words before a day that belongs to the text, other than `lasting`: about."""
    counts: Words
    """Words for a number of times: twice."""
    adjectives: Words = frozenset()
    """Those of the rhythms that may describe the text: weekly report."""
    months_in: Words = frozenset()
    """Words before a month, other than `inside`: im."""
    per: Words = frozenset()
    """Words before the span of a number of times: pro."""
    meridiem: Mapping[str, int] = field(default_factory=dict)
    """am and pm, with the hours that they add."""
    singular: Words = frozenset()
    """Names of one unit, if they can't follow a larger number."""
    also_english: Words = frozenset()
    """Abbreviated days that are also English words."""
    other: Words = frozenset()
    """Words as in every other Monday, if they have no other meaning."""
    long: Words = frozenset()
    """Words after the duration of something."""
    nights_too: Words = frozenset()
    """Words for all hours, of up to four words: day and night."""
    habits: Words = frozenset()
    """Parts of the day that may mean every day."""
    nought: Words = frozenset()
    """Words before a minute of one digit: nine oh five."""
    dotted: bool = False
    """Dates have the form 24.12."""
    leading: Words = frozenset()
    """Words before the phrase without a meaning: me."""
    linking: Words = frozenset()
    """Words between the phrase and its subject: to."""
    led_linking: Words = frozenset()
    """Such words, but only if one of `leading` comes first: mich morgen 9:00 an den Zahnarzt."""
