"""Measures how well a model finds the reason for a reaction, on 100 labelled pairs of answers and 24 single ones, in
English and German.

`python -m tests.attributed` measures rules that know a few signs; `python -m tests.realmodel.attributed` measures a
model. Both use Relay's own code to ask, to read the answer, and to derive preferences from it.
"""

from __future__ import annotations

import asyncio
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from relay.core.models import ModelRequest, Step
from relay.core.spending.charge import Charge
from relay.memory.preferences.attribution import Attributor, ask, observations
from relay.memory.rows.turns.preferences import AttributionWork
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

FOLDER = Path(__file__).parent
FILES = ("attribution_pairs.toml", "attribution_singles.toml")
NOT = re.compile(
    r"(?:too )?(?:no|not|non|without|lack(?:s|ing)?(?: of)?|absence of|less|fewer|avoid\w*|kein\w*|ohne|nicht)\b"
)
Verdict = Literal["named", "true", "wrong"]


class Gateway(Protocol):
    """What answers in the place of a `Gate`."""

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        """See `Gate.ask`."""


@dataclass(frozen=True, slots=True)
class Act:
    """What a person did to an answer or to two of them, and why."""

    kind: str
    language: str
    question: str
    a: str
    b: str
    """Empty: there is one answer."""
    prefers: str
    named: frozenset[str]
    """Any of these is what the person would name: a feature with + for more of it, - for less."""
    also: frozenset[str]
    """True as well, but hardly the reason."""

    @property
    def work(self) -> AttributionWork:
        """The act as Relay hands it out: A is the answer that was preferred, or the one that somebody made better."""
        first, second = (self.b, self.a) if self.prefers == "b" and self.kind != "refine" else (self.a, self.b)
        kind, _, up = self.kind.partition(" ")
        return AttributionWork(
            feedback_id=1,
            space_id=1,
            user_id=7,
            session_id=1,
            kind=kind,
            value={"up": up == "up"} if up else {"text": second} if kind == "refine" else {},
            question_id=1,
            question=self.question,
            answer_id=2,
            answer=first,
            other_id=3 if second else None,
            other=second or None,
            chosen="b" if self.kind == "refine" else "a",
            attributable=True,
            known=(),
        )


@dataclass(frozen=True, slots=True)
class Attribution:
    """A pattern that was attributed to an act, and what to think of it."""

    type: str
    words: str
    """With + where the person likes it, with - where not."""
    verdict: Verdict
    placed: bool
    """It means a feature that is known here; what means none counts as wrong."""
    typed: bool
    """Its type is one of those that the feature has."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of answers, by the words that mean it."""

    types: tuple[str, ...]
    more: re.Pattern[str]
    less: re.Pattern[str] | None


@functools.cache
def features() -> dict[str, Feature]:
    """All features by their names."""

    def beginnings(words: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{words})")

    rows = tomllib.loads((FOLDER / "attribution_words.toml").read_text("utf-8"))
    return {
        name: Feature(tuple(row["type"]), beginnings(row["more"]), beginnings(row["less"]) if "less" in row else None)
        for name, row in rows.items()
    }


def labelled() -> list[Act]:
    """All acts: pairs, then single answers."""
    return [
        Act(
            **{key: row[key].strip() for key in ("kind", "language", "question", "a")},
            b=row.get("b", "").strip(),
            prefers=row.get("prefers", ""),
            named=frozenset(row["named"]),
            also=frozenset(row["also"]),
        )
        for name in FILES
        for row in tomllib.loads((FOLDER / name).read_text("utf-8"))["act"]
    ]


def meant(pattern: str, polarity: int) -> dict[str, Feature]:
    """The features that a pattern means, each with + for more of it or - for less."""
    denied = NOT.match(pattern)
    if denied:
        pattern, polarity = pattern[denied.end() :], -polarity
    found = {}
    for name, one in features().items():
        less = one.less and one.less.search(pattern)
        if less or one.more.search(pattern):
            found[f"{'+' if (polarity > 0) != bool(less) else '-'}{name}"] = one
    return found


def turned(feature: str) -> str:
    """The opposite of a feature."""
    return f"{'-' if feature[0] == '+' else '+'}{feature[1:]}"


def attribution(act: Act, type: str, pattern: str, polarity: int) -> Attribution:
    """What to think of a pattern that was attributed to an act."""
    found = meant(pattern, polarity)
    verdict: Verdict = "wrong"
    if act.named & found.keys():
        verdict = "named"
    elif act.also & found.keys() and not act.named & {turned(one) for one in found}:
        verdict = "true"
    typed = any(type in one.types for one in found.values())
    return Attribution(type, f"{'+' if polarity > 0 else '-'}{pattern}", verdict, bool(found), typed)


async def attributed(act: Act, model: Gateway, name: str) -> list[Attribution]:
    """What Relay takes from a model's answer about an act."""
    attributor = Attributor(cast("Store", None), cast("Gate", model), name)
    said = await ask(attributor, act.work)
    rows: Sequence[dict[str, Any]] = observations(act.work, said.patterns)
    return [attribution(act, row["type"], row["pattern"], row["polarity"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of acts (0 to 1), and of the patterns that were attributed to them."""

    acts: int
    named: float
    """Acts with a pattern that the person named."""
    amiss: float
    """Acts with a wrong one."""
    silent: float
    """Acts with none at all."""
    patterns: int
    of_patterns: dict[str, float]
    """Shares of the patterns: named, true, wrong, unplaced (a part of wrong), typed."""


def score(found: Iterable[Sequence[Attribution]]) -> Score:
    """How well acts were attributed."""
    acts = list(found)
    every = [one for act in acts for one in act]
    counted = Counter(one.verdict for one in every)
    counted.update({"unplaced": sum(not one.placed for one in every), "typed": sum(one.typed for one in every)})

    def share(verdict: Verdict) -> float:
        return sum(any(one.verdict == verdict for one in act) for act in acts) / len(acts)

    silent = sum(not act for act in acts) / len(acts)
    shares = {what: counted[what] / max(1, len(every)) for what in ("named", "true", "wrong", "unplaced", "typed")}
    return Score(len(acts), share("named"), share("wrong"), silent, len(every), shares)


def table(found: Sequence[tuple[Act, Sequence[Attribution]]]) -> str:
    """How well acts were attributed: pairs and single answers apart, by language."""
    lines = [
        "| acts | one is named | one is wrong | nothing | patterns: named / true / wrong (unplaced) | right type |",
        "|---|---|---|---|---|---|",
    ]
    for name, two in (("pairs", True), ("single answers", False)):
        for language in ("en", "de", ""):
            some = [each for act, each in found if bool(act.b) == two and language in ("", act.language)]
            if some:
                one, of = score(some), score(some).of_patterns
                lines.append(
                    f"| {one.acts} {name}{language and ', ' + language} | {one.named:.0%} | {one.amiss:.0%} | "
                    f"{one.silent:.0%} | {one.patterns}: {of['named']:.0%} / {of['true']:.0%} / {of['wrong']:.0%} "
                    f"({of['unplaced']:.0%}) | {of['typed']:.0%} |"
                )
    return "\n".join(lines)


class Rules:
    """Tells of answers what a few signs show: how long they are, lists, code, emoji, addresses, questions."""

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        """Answers as a model would."""
        text = request.messages[0]["content"][0]["text"]
        answers = re.findall(r'Answer [AB]:\n<untrusted kind="answer">\n(.*?)\n</untrusted>', text, re.DOTALL)
        seen = [signs(one) for one in answers]
        said = []
        for which, one, other in zip("ab", seen, [*seen[1:], seen[0]] if seen[1:] else [set()], strict=False):
            said += [
                {"type": type, "pattern": pattern, "polarity": 1, "which": which}
                for type, pattern in sorted(one - other)
            ]
        shorter = min(answers, key=len)
        if seen[1:] and len(shorter) < 0.6 * max(map(len, answers)):
            which = "ab"[answers.index(shorter)]
            said.insert(0, {"type": "length", "pattern": "short answers", "polarity": 1, "which": which})
        elif not seen[1:] and not 60 < len(shorter) < 250:
            polarity = 1 if len(shorter) <= 60 else -1
            said.insert(0, {"type": "length", "pattern": "short answers", "polarity": polarity, "which": "a"})
        block = {"type": "tool_use", "id": "1", "name": request.tools[0]["name"], "input": {"patterns": said}}
        return Step([block], "tool_use", {}, "rules")


SIGNS = {
    ("form", "lists and tables"): re.compile(r"^(?:[-*#|] ?|\d\. )", re.MULTILINE),
    ("code", "code"): re.compile(r"`"),
    ("tone", "emoji"): re.compile("[\U0001f300-\U0001faff☀-➿]"),
    ("sources", "sources and links"): re.compile(r"\w\.(?:org|com|de|no|uk|net)\b"),
    ("initiative", "questions back"): re.compile(r"\?$", re.MULTILINE),
    ("tone", "formal tone"): re.compile(r"\b(?:Dear|Sehr geehrte|I remain|Yours|Ihnen)\b"),
}


def signs(answer: str) -> set[tuple[str, str]]:
    """The patterns that an answer shows, in words that need no understanding."""
    return {key for key, sign in SIGNS.items() if sign.search(answer)}


class Habit:
    """Says the same of every answer that was preferred: what is named most often."""

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        """Answers as a model would."""
        said = [
            {"type": features()[words].types[0], "pattern": words, "polarity": 1, "which": "a"}
            for words in ("short answers", "step by step", "direct answers", "examples")
        ]
        block = {"type": "tool_use", "id": "1", "name": request.tools[0]["name"], "input": {"patterns": said}}
        return Step([block], "tool_use", {}, "habit")


async def main() -> None:
    """Prints how well the rules do, and what needs no look at the answers."""
    for name, model in (("rules", Rules()), ("always the same", Habit())):
        found = [(act, await attributed(act, model, name)) for act in labelled()]
        print(f"{name}\n\n{table(found)}\n")


if __name__ == "__main__":
    asyncio.run(main())
