"""The judge's findings: their shape, limits, and conversion to memories. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Annotated

from pydantic import BeforeValidator, Field, StrictInt

from relay.core.frozen import frozen
from relay.core.limits import TAGGED_FACT_LENGTH
from relay.core.models import Step, list_tool
from relay.core.prompt_markup import neutralize_markup
from relay.memory.answers import InvalidAnswer, Text, read_rows
from relay.memory.intents import process_intents
from relay.memory.reminders.phrases import says_clock
from relay.memory.reminders.recurrence import localize
from relay.memory.review.calibration import ACKNOWLEDGEMENT_WORTH, LEAST, weight
from relay.memory.rows.upkeep.judging import Candidate, JudgedMessage

KINDS: dict[str, tuple[str, str | None]] = {
    "decision": ("decision", None),
    "discovery": ("learning", "knowledge"),
    "feeling": ("feeling", None),
    "philosophy": ("learning", "identity"),
    "issue": ("event", None),
    "success": ("event", None),
    "fact": ("fact", None),
    "preference": ("preference", None),
    "goal": ("goal", None),
    "person": ("person", None),
    "event": ("event", None),
}
"""The judge's kinds, each with the memory's kind and category. Where these differ, the judge's kind becomes a tag."""
MOST = 20
"""The most findings in one answer."""
MOST_EVIDENCE = 12
MessageId = Annotated[
    StrictInt,
    BeforeValidator(lambda one: int(one) if isinstance(one, str) and re.fullmatch(r"[0-9]{1,18}", one) else one),
]
DATE = {"type": "string", "description": "YYYY-MM-DD"}
KEEP = list_tool(
    "keep",
    "Notes what is worth remembering in these messages; an empty list if nothing is.",
    "findings",
    {
        "kind": {"type": "string", "enum": list(KINDS)},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "sentence": {"type": "string", "description": f"at most {TAGGED_FACT_LENGTH} characters, third person"},
        "evidence": {"type": "array", "items": {"type": "integer"}, "description": "message ids"},
        "deadline": DATE,
        "valid_from": DATE,
        "valid_until": DATE,
        "time": {"type": "string", "description": "HH:MM of the deadline, or of valid_from"},
    },
    ("kind", "importance", "sentence", "evidence"),
)


@frozen
class FoundRow:
    """A finding as the model wrote it."""

    kind: str
    importance: Annotated[StrictInt, Field(ge=1, le=10)]
    sentence: str
    evidence: Annotated[tuple[MessageId, ...], Field(min_length=1, max_length=MOST_EVIDENCE)]
    deadline: Text = ""
    valid_from: Text = ""
    valid_until: Text = ""
    time: Text = ""


@frozen
class Zones:
    """The time zones of findings."""

    noted_in: tzinfo = UTC
    """The installation's zone, in which days are stored."""
    own: tzinfo = UTC
    """The person's zone, for times of day."""


UTC_ONLY = Zones()


@frozen
class Finding:
    """One thing worth keeping."""

    kind: str
    """One of KINDS."""
    importance: int
    text: str
    evidence: tuple[int, ...]
    """Message ids, at least one of the person's own."""
    tainted: bool
    """It is based on other people's words, so it waits for the person's tap and changes nothing until then."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    """The deadline of a goal."""
    exact_at: datetime | None = None
    """The exact time of a goal or event, if its time of day was said."""
    tags: tuple[str, ...] = ()

    def as_candidate(self, user_id: int | None, name: str) -> Candidate:
        """Converts the finding for memory. Knowledge is about nobody; everything else is about the speaker."""
        kind, category = KINDS[self.kind]
        mine = category != "knowledge"
        own = () if kind == self.kind else (self.kind,)
        return Candidate(
            kind=kind,
            content=self.text,
            evidence=self.evidence,
            tainted=self.tainted,
            importance=self.importance,
            confidence=0.8,
            subject_id=user_id if mine else None,
            subject=name if mine else None,
            category=category,
            tags=(*own, *self.tags),
            valid_from=self.valid_from.isoformat() if self.valid_from else None,
            valid_until=self.valid_until.isoformat() if self.valid_until else None,
            exact_at=self.exact_at.isoformat() if self.exact_at else None,
        )


def findings_in(
    step: Step,
    rows: Mapping[int, JudgedMessage],
    zones: Zones = UTC_ONLY,
    before: Mapping[int, JudgedMessage] | None = None,
) -> list[Finding]:
    """Returns the findings in a judge's answer about messages (by id), weighed and from importance 5. `before`:
    earlier messages, which may be cited too. Raises `ModelRefused` for a refusal, and `InvalidAnswer` if any of it has
    the wrong form."""
    listed = read_rows(step, FoundRow, KEEP)
    if len(listed) > MOST:
        raise InvalidAnswer("it holds too many findings")
    known = {**(before or {}), **rows}
    found = [weigh(finding_of(one, rows, known, zones), known, rows) for one in listed]
    return [one for one in found if one.importance >= LEAST]


def finding_of(
    row: FoundRow, rows: Mapping[int, JudgedMessage], known: Mapping[int, JudgedMessage], zones: Zones
) -> Finding:
    """Converts one finding; `known`: all messages that the model saw. Raises `InvalidAnswer`."""
    sentence = plain_sentence(row.sentence)
    if row.kind not in KINDS or not 0 < len(sentence) <= TAGGED_FACT_LENGTH:
        raise InvalidAnswer("a finding has no kind, or its sentence is missing or too long")
    if not known.keys() >= set(row.evidence):
        raise InvalidAnswer("a finding names a message that is not there")
    if not any(one in rows and rows[one].role == "user" for one in row.evidence):
        raise InvalidAnswer("a finding names none of the person's messages")
    since = date_in(row.valid_from, zones.noted_in)
    until = date_in(row.deadline or row.valid_until, zones.noted_in)
    evidence = tuple(sorted(set(row.evidence)))
    day = {"goal": until or since, "event": since or until}.get(KINDS[row.kind][0])
    return Finding(
        row.kind,
        row.importance,
        sentence,
        evidence,
        rests_on_others(evidence, known),
        valid_from=since,
        valid_until=until and until + timedelta(days=1, seconds=-1),
        exact_at=moment_in(row.time, day, [known[one].text for one in evidence], zones.own),
    )


def plain_sentence(text: str) -> str:
    """Returns a text on one line without tags, which a judge's text must not contain."""
    return one_line(process_intents(text).text)


def one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def as_data(text: str) -> str:
    """Quotes a sentence for a prompt on one line, so that it can't close the quotation marks."""
    return json.dumps(neutralize_markup(one_line(text)), ensure_ascii=False)


def rests_on_others(evidence: Iterable[int], known: Mapping[int, JudgedMessage]) -> bool:
    """Tests whether any of the messages contains other people's words, or answers them."""
    return any(known[one].untrusted or known[one].tainted for one in evidence)


def date_in(text: str, zone: tzinfo) -> datetime | None:
    """Returns the beginning of a day; None if the text is not a date."""
    found = re.match(r"\d{4}-\d{2}-\d{2}", text)
    try:
        return datetime.fromisoformat(found[0]).replace(tzinfo=zone) if found and "1800" < found[0] < "2300" else None
    except ValueError:
        return None


def moment_in(clock: str, day: datetime | None, said: Iterable[str], zone: tzinfo) -> datetime | None:
    """Returns the moment of a time of day on a day; None if there is no such time, or no message says it
    unambiguously."""
    if day is None or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", clock):
        return None
    at = time.fromisoformat(clock)
    return localize(datetime.combine(day, at), zone) if any(says_clock(text, at) for text in said) else None


def weigh(finding: Finding, known: Mapping[int, JudgedMessage], rows: Mapping[int, JudgedMessage]) -> Finding:
    """Weighs a finding from only a short message as such a message; ties assent to what it answers."""
    said = [one for one in finding.evidence if one in rows and rows[one].role == "user"]
    short = weight(rows[said[0]].text) if len(said) == 1 else None
    if short is None:
        return finding
    what, worth = short
    if what == "feeling":
        return replace(finding, importance=max(worth, finding.importance)) if finding.kind == "feeling" else finding
    return add_acknowledged(finding, said[0], known)


def add_acknowledged(finding: Finding, said: int, known: Mapping[int, JudgedMessage]) -> Finding:
    """Adds the acknowledged answer to an assent's evidence."""
    answered = max((one for one, row in known.items() if one < said and row.role == "assistant"), default=None)
    evidence = {said, *finding.evidence} | ({answered} if answered is not None else set())
    worth = max(ACKNOWLEDGEMENT_WORTH, finding.importance)
    tainted = finding.tainted or rests_on_others(evidence, known)
    tags = ("acknowledgement",)
    return replace(finding, importance=worth, evidence=tuple(sorted(evidence)), tainted=tainted, tags=tags)
