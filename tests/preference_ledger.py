"""A second implementation of what a person's acts amount to: which observations each act gives, which of them count,
and what a prompt then shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from math import floor

from tests.preference_fold import HALF_OLD, OLD, History, Seen, allowed, fold, rounded
from tests.preference_selection import Key, Stands, sureness

WEIGHTS = {
    "accept": ("0.15", 0), "refine": ("0.20", 1), "tag": ("0.30", 1), "thumbs": ("0.10", 0), "abandon": ("0.02", 0),
    "revert": ("0.25", 1), "compare": ("0.40", 1), "said": ("1.60", 2),
}  # fmt: skip
REASONS: dict[str, tuple[Key, int]] = {
    "shorter": (("length", "short answers"), 1),
    "clearer": (("language", "plain words"), 1),
}
SHOWN_FROM, SURE = Fraction(39, 100), 2.0
MOST_OF_ONE, MOST_OF_TWO = 2, 4


Decision = tuple[int | None, Key, datetime]
"""A pattern was forgotten: its scope, the pattern, and the time."""


@dataclass(frozen=True)
class Observed:
    """What an act says about a pattern. `explicit`: the person named it, so it counts by itself."""

    key: Key
    polarity: int
    explicit: bool = True


def attributed(
    kind: str,
    answer: Sequence[Key],
    other: Sequence[Key] | None = None,
    *,
    up: bool = True,
    chosen: str = "a",
    reasons: Sequence[str] = (),
) -> list[Observed]:
    """What an act says about the answers' patterns, if attribution sees exactly those."""  # fmt: skip
    named = dict(REASONS[one] for one in reasons if one in REASONS)
    if other is None:
        sign = 1 if up and kind != "abandon" else -1
        said = [(key, sign) for key in answer[:MOST_OF_ONE]]
    else:
        only = [(key, "a") for key in answer if key not in other] + [(key, "b") for key in other if key not in answer]
        said = [(key, 1 if side == chosen else -1) for key, side in only[:MOST_OF_TWO]]
    types = {key[0] for key in named} | set(reasons)
    alone = kind == "refine" and len(said) == 1
    rest = [Observed(key, sign, alone or key[0] in types) for key, sign in said if key not in named]
    return [*(Observed(key, sign) for key, sign in named.items()), *rest]


@dataclass
class Act:
    """An act. `scope`: the only thread in which it counts."""

    number: int
    kind: str
    turn: int | None
    at: datetime
    session: int
    scope: int | None
    observed: list[Observed]
    withdrawn: bool = False
    up: bool = True


@dataclass
class Ledger:
    """All of a person's acts and decisions."""

    acts: list[Act] = field(default_factory=list)
    forgotten: list[Decision] = field(default_factory=list)
    _folded: dict[int | None, dict[Key, History]] = field(default_factory=dict)
    _sure: dict[int | None, dict[Key, float]] = field(default_factory=dict)

    def changed(self) -> None:
        """Clears what was calculated, since something was added or taken back."""
        self._folded, self._sure = {}, {}

    def add(self, act: Act) -> None:
        """Adds an act, without what the same kind of act has already said about the same answer."""
        act.observed = [one for one in act.observed if act.turn is None or not self._has(act, one)]
        self.acts.append(act)
        self.changed()

    def _has(self, act: Act, said: Observed) -> bool:
        return any(
            (one.key, one.polarity) == (said.key, said.polarity)
            for other in self.about(act.turn, act.kind)
            for one in other.observed
        )

    def about(self, turn: int | None, *kinds: str) -> list[Act]:
        """The acts of these kinds about an answer that were not taken back."""
        return [one for one in self.acts if one.turn == turn and one.kind in kinds and not one.withdrawn]

    def withdraw(self, act: Act) -> None:
        """Takes an act back."""
        act.withdrawn, act.observed = True, []
        self.changed()

    def counting(self, scope: int | None) -> list[tuple[Act, Observed]]:
        """The observations that count in a scope: those not forgotten since."""
        last: dict[Key, datetime] = {}
        for place, key, at in self.forgotten:
            if place == scope:
                last[key] = max(at, last.get(key, at))
        return [
            (act, one)
            for act in self.acts
            for one in act.observed
            if act.scope == scope and (one.key not in last or act.at > last[one.key])
        ]

    def folded(self, scope: int | None) -> dict[Key, History]:
        """Each pattern's history of explicit observations."""
        if scope not in self._folded:
            seen: dict[Key, list[Seen]] = {}
            for act, one in sorted(self.counting(scope), key=lambda pair: pair[0].at):
                if one.explicit:
                    weight, reinforcing = WEIGHTS[act.kind]
                    seen.setdefault(one.key, []).append(
                        Seen(act.at, act.session, one.polarity, Fraction(weight), reinforcing, act.kind == "said")
                    )
            self._folded[scope] = {key: fold(history) for key, history in seen.items()}
        return self._folded[scope]

    def sure(self, scope: int | None) -> dict[Key, float]:
        """How sure all other acts together are of a pattern, signed. An explicit observation to the contrary wins."""
        if scope not in self._sure:
            choices: dict[int, tuple[dict[Key, int], float]] = {}
            for act, one in self.counting(scope):
                if not one.explicit:
                    weight = float(Fraction(WEIGHTS[act.kind][0]) / Fraction(WEIGHTS["compare"][0]))
                    choices.setdefault(act.number, ({}, weight))[0][one.key] = one.polarity
            found = sureness([choices[number] for number in sorted(choices)])
            self._sure[scope] = {
                key: round(value, 3) for key, value in found.items() if not self._denied(scope, key, value)
            }
        return self._sure[scope]

    def _denied(self, scope: int | None, key: Key, value: float) -> bool:
        history = self.folded(scope).get(key)
        held = [*history.polarities, history.former] if history else []
        return (-1 if value > 0 else 1) in held

    def last(self, scope: int | None, key: Key, polarity: int) -> datetime:
        """When an observation last supported a pattern."""
        return max(act.at for act, one in self.counting(scope) if (one.key, one.polarity) == (key, polarity))

    def stands(self, scope: int | None, now: datetime) -> list[Stands]:
        """The preferences of a scope at a moment."""
        found = []
        folded, sure = self.folded(scope), self.sure(scope)
        for key in folded.keys() | sure.keys():
            history = folded.get(key, History())
            polarity, strength, level, last, faded, reinforced = self._stored(scope, key, history)
            if history.belief and history.belief.shadow:
                continue
            if abs(sure.get(key, 0)) and not level:
                strength = max(strength, by_choices(abs(sure[key])))
                level = int(abs(sure[key]) >= SURE)
            if now - last >= OLD:
                continue
            if now - last >= HALF_OLD and not faded:
                strength = rounded(strength * Fraction(7, 10))
                level = min(max(level - 1, 0), allowed(strength, reinforced))
            found.append(Stands(*key, polarity, float(strength), level, scope is not None, last, 0))
        return found

    def _stored(self, scope: int | None, key: Key, history: History) -> tuple[int, Fraction, int, datetime, bool, int]:
        held = history.belief
        if held:
            return held.polarity, rounded(held.strength), held.level, held.last, held.faded, held.reinforced
        polarity = 1 if self.sure(scope)[key] > 0 else -1
        return polarity, Fraction(0), 0, self.last(scope, key, polarity), False, 0

    def forget(self, scope: int | None, key: Key, at: datetime) -> Decision:
        """Forgets a pattern. Returns the decision, which undoes it."""
        decision = (scope, key, at)
        self.forgotten.append(decision)
        self.changed()
        return decision

    def recall(self, decision: Decision) -> bool:
        """Undoes forgetting, unless something was observed since."""
        scope, key, at = decision
        if any(act.scope == scope and one.key == key and act.at > at for act in self.acts for one in act.observed):
            return False
        self.forgotten.remove(decision)
        self.changed()
        return True


def by_choices(sure: float) -> Fraction:
    """The strength of a preference of which choices are this sure."""
    found = min(SHOWN_FROM + (Fraction(str(sure)) - Fraction(3, 2)) / 10, Fraction(74, 100))
    return Fraction(floor(found * 10_000 + Fraction(1, 2)), 10_000)


def numbered(rows: Sequence[Stands], numbers: dict[tuple[bool, Key, int], int]) -> list[Stands]:
    """The preferences with their ids."""
    return [replace(row, number=numbers[row.here, (row.type, row.pattern), row.polarity]) for row in rows]


def moments(acts: Sequence[Act]) -> list[datetime]:
    """The moments around which the observations of these acts fade and expire."""
    minute = timedelta(minutes=1)
    return [act.at + age + side for act in acts for age in (HALF_OLD, OLD) for side in (-minute, minute)]
