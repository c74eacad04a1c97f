"""The judge's findings: their shape, limits, and conversion to memories. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo

from relay.core.frozen import frozen
from relay.core.limits import TAGGED_FACT_LENGTH
from relay.core.models import Step, list_tool
from relay.core.prompt_markup import neutralize_markup
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
TOOL = "keep"
DATE = {"type": "string", "description": "YYYY-MM-DD"}
KEEP = list_tool(
    TOOL,
    "Notes what is worth remembering of these messages; an empty list where nothing is.",
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


class InvalidAnswer(ValueError):
    """A model's answer doesn't have the requested shape."""


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


def read_tool_input(step: Step, tool: str) -> object:
    """Returns a model's tool input, or the JSON in its text if its server has no forced tools. Raises `InvalidAnswer`,
    also for a truncated answer."""
    if step.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        raise InvalidAnswer("it was cut")
    for block in step.blocks:
        if block.get("type") == "tool_use" and block.get("name") == tool:
            return block.get("input")
    return json_in("".join(str(block.get("text") or "") for block in step.blocks if block.get("type") == "text"))


def json_in(text: str) -> object:
    """Returns the JSON object in a text, even in a code fence or among words. Raises `InvalidAnswer`."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise InvalidAnswer("there is no JSON in it")
    try:
        found: object = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        raise InvalidAnswer("its JSON is broken") from None
    return found


def findings_in(
    answer: object,
    rows: Mapping[int, JudgedMessage],
    zones: Zones = UTC_ONLY,
    before: Mapping[int, JudgedMessage] | None = None,
) -> list[Finding]:
    """Returns the findings in a judge's answer about messages (by id), weighed and from importance 5. `before`:
    earlier messages, which may be cited too. Raises `InvalidAnswer` if any of it has the wrong shape."""
    listed = answer.get("findings") if isinstance(answer, dict) else None
    if not isinstance(listed, list) or len(listed) > MOST:
        raise InvalidAnswer("it holds no list of findings, or too long a one")
    known = {**(before or {}), **rows}
    found = [weigh(finding_of(one, rows, known, zones), known, rows) for one in listed]
    return [one for one in found if one.importance >= LEAST]


def finding_of(
    row: object, rows: Mapping[int, JudgedMessage], known: Mapping[int, JudgedMessage], zones: Zones
) -> Finding:
    """Parses one finding; `known`: all messages that the model saw. Raises `InvalidAnswer`."""
    if not isinstance(row, dict) or not isinstance(row.get("kind"), str) or row["kind"] not in KINDS:
        raise InvalidAnswer("a finding has no kind")
    importance, text = row.get("importance"), row.get("sentence")
    if type(importance) is not int or not 1 <= importance <= 10:
        raise InvalidAnswer("a finding's importance is not from 1 to 10")
    sentence = plain_sentence(text) if isinstance(text, str) else ""
    if not sentence or len(sentence) > TAGGED_FACT_LENGTH:
        raise InvalidAnswer("a finding's sentence is missing or too long")
    since = date_in(row.get("valid_from"), zones.noted_in)
    until = date_in(row.get("deadline") or row.get("valid_until"), zones.noted_in)
    evidence = evidence_in(row.get("evidence"), rows, known)
    day = {"goal": until or since, "event": since or until}.get(KINDS[row["kind"]][0])
    return Finding(
        row["kind"],
        importance,
        sentence,
        evidence,
        rests_on_others(evidence, known),
        valid_from=since,
        valid_until=until and until + timedelta(days=1, seconds=-1),
        exact_at=moment_in(row.get("time"), day, [known[one].text for one in evidence], zones.own),
    )


def plain_sentence(text: str) -> str:
    """Returns a text on one line without tags, which a judge's text must not contain."""
    return one_line(process_intents(text).text)


def one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def as_data(text: str) -> str:
    """Quotes a sentence for a prompt on one line, so that it can't close the quotation marks."""
    return json.dumps(neutralize_markup(one_line(text)), ensure_ascii=False)


def evidence_in(ids: object, rows: Mapping[int, JudgedMessage], known: Mapping[int, JudgedMessage]) -> tuple[int, ...]:
    """Returns the messages that a finding cites. Raises `InvalidAnswer` unless all are known, and at least one is the
    person's own among those to be judged."""
    if not isinstance(ids, list) or not 0 < len(ids) <= MOST_EVIDENCE:
        raise InvalidAnswer("a finding names no messages")
    named = [int(one) if isinstance(one, str) and re.fullmatch(r"[0-9]{1,18}", one) else one for one in ids]
    if not all(type(one) is int and one in known for one in named):
        raise InvalidAnswer("a finding names a message that is not there")
    if not any(one in rows and rows[one].role == "user" for one in named):
        raise InvalidAnswer("a finding names none of the person's messages")
    return tuple(sorted(set(named)))


def rests_on_others(evidence: Iterable[int], known: Mapping[int, JudgedMessage]) -> bool:
    """Tests whether any of the messages contains other people's words, or answers them."""
    return any(known[one].untrusted or known[one].tainted for one in evidence)


def date_in(text: object, zone: tzinfo) -> datetime | None:
    """Returns the beginning of a day; None if the text is not a date."""
    found = re.match(r"\d{4}-\d{2}-\d{2}", text) if isinstance(text, str) else None
    try:
        return datetime.fromisoformat(found[0]).replace(tzinfo=zone) if found and "1800" < found[0] < "2300" else None
    except ValueError:
        return None


def moment_in(clock: object, day: datetime | None, said: Iterable[str], zone: tzinfo) -> datetime | None:
    """Returns the moment of a time of day on a day; None if there is no such time, or no message says it
    unambiguously."""
    if day is None or not isinstance(clock, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", clock):
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
