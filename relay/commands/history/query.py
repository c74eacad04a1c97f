"""Parses what a person searches for: words, "exact phrases", and filters. Pure.

from:me, from:you or from:Name · before:DATE and after:DATE · in:here or in:Name (a topic or group) · file:NAME ·
topic:WORD (of a session) · keepit:0.5..1 (a marker's weight) · kind:message, memory, summary, document or version.
Names of several words need quotes. A date is a year, a month, a day, today, yesterday, or 7d (seven days ago); `after`
begins with its first moment, and `before` ends there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from relay.memory.rows.search import Weights

PART = re.compile(r'(?i:(from|before|after|in|file|topic|keepit|kind)):(?:"([^"]*)"|([^\s"]*))|"([^"]*)"|([^\s"]+)|"')
"""A filter with its value, quoted or not; a phrase; a word; an unclosed quotation mark."""
QUOTES = str.maketrans("“”„‟«»", '""""""')
"""Quotation marks as phones write them."""
DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2}))?(?:-([0-9]{1,2}))?")
WEIGHTS = re.compile(r"(?=.*[0-9])([01](?:\.[0-9]{1,2})?)?(?:(\.\.)([01](?:\.[0-9]{1,2})?)?)?")
"""A weight or a range: 0.5..1, 0.5.., ..0.5 or 0.5."""
KINDS = ("message", "memory", "summary", "document", "version")
KINDS_NAMED = {**{kind: kind for kind in KINDS}, "messages": "message", "memories": "memory", "summaries": "summary",
               "documents": "document", "versions": "version"}  # fmt: skip
KNOWN = ("memory", "summary", "version")
"""Kinds that are found by words only."""
DAYS = re.compile(r"([0-9]{1,5})d", re.IGNORECASE)

WANTS = {
    "from": "needs a person: from:me, from:you (me, your assistant), or a name.",
    "in": "needs a place: in:here, or the name of a topic or group. Put several words in quotes.",
    "file": "needs the name of a document, or a part of it: file:report.",
    "topic": "needs a word from a session's topics: topic:garden.",
}
A_WEIGHT = "Write a range from 0 to 1, such as keepit:0.5..1, keepit:0.75.. or keepit:..0.5."
A_KIND = f"Write kind:{', kind:'.join(KINDS[:-1])} or kind:{KINDS[-1]}."
A_DATE = "Write 2026-11-05, 2026-11, 2026, today, yesterday, or 7d (seven days ago)."
MOST = 8
"""The most names, places and phrases each: every one is checked for each message."""


@dataclass
class Query:
    """A parsed search. All conditions must hold; of several people or places, one suffices."""

    words: str = ""
    phrases: tuple[str, ...] = ()
    me: bool = False
    """Said by the person who searches."""
    you: bool = False
    """Said by the assistant."""
    names: tuple[str, ...] = ()
    here: bool = False
    places: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    files: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    keepit: Weights | None = None
    kinds: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    """Sentences about what is wrong with the query."""

    @property
    def filtered(self) -> bool:
        """Tells whether it has any condition besides words."""
        who = self.me or self.you or self.names or self.here or self.places
        return bool(who or self.since or self.until or self.files or self.topics or self.keepit or self.kinds)

    @property
    def empty(self) -> bool:
        return not (self.words or self.phrases or self.filtered)

    def narrow(self, key: str, value: str, quoted: bool, now: datetime) -> None:
        """Adds a filter, or records what is wrong with it."""
        value = " ".join(value.split())
        if key in ("before", "after"):
            moment = date_in(value, now)
            if moment is None:
                self.wrong += (f"{key}:{value} isn't a date I know. {A_DATE}",)
            elif key == "after":
                self.since = max(self.since or moment, moment)
            else:
                self.until = min(self.until or moment, moment)
        elif key == "keepit":
            self.keepit = weights_in(value)
            if self.keepit is None:
                self.wrong += (f"keepit:{value} isn't a range of weights. {A_WEIGHT}",)
        elif key == "kind":
            kind = KINDS_NAMED.get(value.lower())
            if kind is None:
                self.wrong += (f"kind:{value} isn't something I can look for. {A_KIND}",)
            elif kind not in self.kinds:
                self.kinds += (kind,)
        elif not value.strip("@"):
            self.wrong += (f"{key}: {WANTS[key]}",)
        elif key == "from" and not quoted and value.lower() in ("me", "you"):
            self.me, self.you = self.me or value.lower() == "me", self.you or value.lower() == "you"
        elif key == "from":
            self.names += (value.lstrip("@"),)
        elif key == "file":
            self.files += (value,)
        elif key == "topic":
            self.topics += (value,)
        elif not quoted and value.lower() == "here":
            self.here = True
        else:
            self.places += (value,)


def parse(text: str, now: datetime) -> Query:
    """Parses a search. `now` is aware; its zone applies to dates. Never raises."""
    query, words = Query(), []
    for match in PART.finditer(text.translate(QUOTES)):
        key, quoted, plain, phrase, word = match.groups()
        if key is not None:
            query.narrow(key.lower(), plain if quoted is None else quoted, quoted is not None, now)
        elif word is not None:
            words.append(word)
        elif phrase and any(c.isalnum() for c in phrase):
            query.phrases += (" ".join(phrase.split()),)
    query.words = " ".join(words)
    bounded = {"names after from:": query.names, "places after in:": query.places, "phrases": query.phrases}
    bounded |= {"names after file:": query.files, "words after topic:": query.topics}
    for what, given in bounded.items():
        if len(given) > MOST:
            query.wrong += (f"{len(given)} {what} are too many; at most {MOST}.",)
    if query.kinds and set(query.kinds) <= {*KNOWN} and not query.words and not query.phrases:
        query.wrong += (f"kind:{query.kinds[0]} needs words, too: /search kind:{query.kinds[0]} garden",)
    return query


def weights_in(text: str) -> Weights | None:
    """Returns a range of weights; None if the text isn't one, or ends before it begins."""
    match = WEIGHTS.fullmatch(text)
    if not match:
        return None
    least, dots, most = match.groups()
    low = Decimal(least or 0)
    high = Decimal(most or 1) if dots else low
    return Weights(f"{low:.2f}", f"{high:.2f}") if low <= high <= 1 else None


def date_in(text: str, now: datetime) -> datetime | None:
    """Returns the first moment of a day, month or year; None if the text is not a date."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if match := DAYS.fullmatch(text):
            return today - timedelta(days=int(match[1]))
        if match := DATE.fullmatch(text):
            return today.replace(year=int(match[1]), month=int(match[2] or 1), day=int(match[3] or 1))
    except (ValueError, OverflowError):
        return None
    return {"today": today, "yesterday": today - timedelta(days=1)}.get(text.lower())
