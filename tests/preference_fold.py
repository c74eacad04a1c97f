"""A second implementation of how preferences are learned: straight from the rules, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from math import floor

HALF_OLD, OLD = timedelta(days=90), timedelta(days=180)


@dataclass(frozen=True)
class Seen:
    """One observation of a pattern."""

    at: datetime
    session_id: int
    polarity: int
    weight: Fraction
    reinforcing: int = 0
    said: bool = False


def rounded(number: Fraction) -> Fraction:
    """Rounds to four places, half up, as the database does."""
    return Fraction(floor(number * 10_000 + Fraction(1, 2)), 10_000)


def allowed(strength: Fraction, reinforced: int) -> int:
    by_strength = sum(strength >= bound for bound in (Fraction(40, 100), Fraction(75, 100)))
    return min(by_strength, reinforced)


@dataclass(frozen=True)
class Belief:
    """What is believed about a pattern: the observations that agree, and those against it since the last of them."""

    polarity: int
    strength: Fraction
    level: int
    agreeing: tuple[Seen, ...]
    against: tuple[Seen, ...] = ()
    before: tuple[Fraction, int] = (Fraction(0), 0)
    """Strength and level when the first of `against` came."""
    faded: bool = False
    shadow: Belief | None = None

    @property
    def reinforced(self) -> int:
        return sum(one.reinforcing for one in self.agreeing)

    @property
    def last(self) -> datetime:
        return self.agreeing[-1].at


def agreed(belief: Belief | None, seen: Seen) -> Belief:
    agreeing = (*(belief.agreeing if belief else ()), seen)
    strength = min(Fraction(1), (belief.strength if belief else 0) + seen.weight / 2)
    return Belief(seen.polarity, strength, allowed(strength, sum(one.reinforcing for one in agreeing)), agreeing)


def aged(belief: Belief, now: datetime) -> Belief | None:
    """The belief after the time that has passed, or None if it is archived by then."""
    if now - belief.last >= OLD:
        return None
    if now - belief.last < HALF_OLD or belief.faded:
        return belief
    fading = Fraction(7, 10)
    strength, (before, level_before) = belief.strength * fading, belief.before
    return replace(
        belief,
        strength=strength,
        level=min(max(belief.level - 1, 0), allowed(strength, belief.reinforced)),
        before=(before * fading, min(max(level_before - 1, 0), allowed(before * fading, belief.reinforced))),
        faded=True,
    )


def opposed(belief: Belief, seen: Seen) -> Belief:
    """The belief after a contradiction. Its shadow of the other polarity replaces it once it is medium."""
    before = belief.before if belief.against else (belief.strength, belief.level)
    belief = replace(belief, against=(*belief.against, seen), before=before)
    number, sessions = len(belief.against), len({one.session_id for one in belief.against})
    base, level = before
    if seen.said or (number >= 4 and sessions >= 2):
        shadow = agreed(belief.shadow, seen)
        return shadow if shadow.level else replace(belief, strength=base * Fraction(6, 10), level=0, shadow=shadow)
    if number >= 3 and sessions >= 2:
        return replace(belief, strength=base * Fraction(6, 10), level=0)
    if number >= 2:
        strength = base * Fraction(8, 10)
        return replace(belief, strength=strength, level=min(level, allowed(strength, belief.reinforced)))
    return belief


@dataclass
class History:
    """A pattern's observations in order."""

    belief: Belief | None = None
    former: int | None = None
    """The polarity of the previous, archived belief."""

    def see(self, seen: Seen) -> None:
        """Adds the next observation."""
        before = self.belief
        self._take(seen)
        if before and before.polarity != self.polarities[0]:
            self.former = before.polarity
        if self.former in self.polarities:
            self.former = None

    @property
    def polarities(self) -> list[int]:
        """The polarities of the belief and of its shadow."""
        held = self.belief
        return [one.polarity for one in (held, held and held.shadow) if one]

    def _take(self, seen: Seen) -> None:
        held = self.belief
        if held and (now := aged(held, seen.at)) is None:
            shadow = held.shadow
            self.belief = shadow if shadow and seen.at - shadow.last < OLD else None
            if self.belief:
                self.belief = aged(self.belief, seen.at)
        elif held:
            self.belief = now
        if self.belief is None or self.belief.polarity == seen.polarity:
            self.belief = agreed(self.belief, seen)
        else:
            self.belief = opposed(self.belief, seen)

    def shown(self, now: datetime) -> tuple[int, float, int] | None:
        """The belief at a moment: polarity, strength, level. None if there is none or it is doubted."""
        stored = replace(self.belief, strength=rounded(self.belief.strength)) if self.belief else None
        held = aged(stored, now) if stored else None
        if held is None or held.shadow:
            return None
        return held.polarity, float(rounded(held.strength)), held.level


def fold(history: Sequence[Seen]) -> History:
    """The history of a pattern after all of its observations."""
    folded = History()
    for seen in history:
        folded.see(seen)
    return folded
