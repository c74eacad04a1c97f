"""The preference layer of a prompt, selected and ordered within a budget. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from relay.core.frozen import frozen
from relay.core.limits import PREFERENCE_TOKENS
from relay.memory.rows.turns.preferences import Preference, in_words
from relay.memory.rows.turns.record import PreferenceNote

LEAST_STRENGTH = 0.40
AVOID_FACTOR = 1.2
MOST = 20
MOST_OF_TYPE = 3
AVOIDED_RATIO = 0.50
"""The largest share of things to avoid."""
LEAST_AVOIDED = 2
"""This many things to avoid stay in any case."""
HEAD_TOKENS, LINE_TOKENS = 20, 5
REMINDERS, REMINDER_TOKENS = 3, 40
ALWAYS_BEAR = ("length", "tone", "language")
"""Types relevant to every message."""
HEAD = """\
# HOW THE USER LIKES ANSWERS
From their choices, edits, tags and reactions. Preferences and context, not rules: what they say now wins, then your \
character and your role in this conversation, then the task. What is under "In this conversation" wins over the \
rest."""
CHECK = "# CHECK AGAINST"

Ranked = list[Preference]
"""Preferences ordered by `rank`, strongest first."""


@frozen
class PreferenceLayer:
    """A prompt's preference layer and its record."""

    text: str = ""
    """Empty if there is nothing."""
    shown: tuple[Preference, ...] = ()
    notes: tuple[PreferenceNote, ...] = ()
    """What was left out or replaced, and why."""


def preference_layer(
    rows: Sequence[Preference],
    variant: Literal["answer", "critique"] = "answer",
    tokens: int = PREFERENCE_TOKENS,
    speaker: str = "",
) -> PreferenceLayer:
    """Builds the layer within `tokens`. `variant`: for an answer, or for checking one (critique). `speaker`: their
    owner, if several people talk."""
    notes: list[PreferenceNote] = []
    acting = select_in_force(overridden(rows, notes), notes)
    ranked = rank(acting)
    kept, overflow = ranked[:MOST], ranked[MOST:]
    if overflow:
        notes.append(PreferenceNote("hard_cap_applied", dropped=len(overflow)))
    kept, overflow = balance_avoided(kept, overflow, notes)
    kept = balance_types(kept, overflow, notes)
    shown = fit_tokens(rank(kept), tokens, notes)
    return PreferenceLayer(format_rows(shown, variant, speaker) if shown else "", tuple(shown), tuple(notes))


def overridden(rows: Sequence[Preference], notes: list[PreferenceNote]) -> Ranked:
    """Removes the rows that this thread overrides."""
    here = {(row.type, row.name): row for row in rows if row.here}
    left = []
    for row in rows:
        own = here.get((row.type, row.name))
        if row.here or own is None:
            left.append(row)
        else:
            notes.append(PreferenceNote("project_override_suppression", (row.id, own.id)))
    return left


def select_in_force(rows: Iterable[Preference], notes: list[PreferenceNote]) -> Ranked:
    """Keeps the rows that are stable, strong, and more than provisional."""
    strong = [row for row in rows if row.status == "stable" and row.strength >= LEAST_STRENGTH]
    acting = [row for row in strong if row.level != "low"]
    if len(strong) > len(acting):
        notes.append(PreferenceNote("provisional_excluded", count=len(strong) - len(acting)))
    return acting


def priority(row: Preference) -> float:
    """Returns a preference's weight; things to avoid weigh more."""
    return row.strength * (AVOID_FACTOR if row.polarity < 0 else 1.0)


def rank(rows: Iterable[Preference]) -> Ranked:
    """Sorts by priority, then the latest first, then the first learned."""
    return sorted(rows, key=lambda row: (-priority(row), -row.last_seen.timestamp(), row.id))


def balance_avoided(kept: Ranked, overflow: Ranked, notes: list[PreferenceNote]) -> tuple[Ranked, Ranked]:
    """Limits avoided things to the number of preferred ones, and fills the places with preferred ones that had no
    room."""
    preferred = [row for row in kept if row.polarity > 0]
    avoided = [row for row in kept if row.polarity < 0]
    waiting = [row for row in overflow if row.polarity > 0]
    most = len(avoided)
    while most > LEAST_AVOIDED:
        final = len(preferred) + min(len(avoided) - most, len(waiting))
        if most <= int(AVOIDED_RATIO / (1 - AVOIDED_RATIO) * final):
            break
        most -= 1
    dropped = len(avoided) - most
    if not dropped:
        return kept, overflow
    notes.append(PreferenceNote("polarity_ceiling_applied", dropped=dropped))
    filling = waiting[:dropped]
    if filling:
        notes.append(PreferenceNote("polarity_backfill", tuple(row.id for row in filling)))
    return [*preferred, *avoided[:most], *filling], [row for row in overflow if row not in filling]


def balance_types(kept: Ranked, overflow: Ranked, notes: list[PreferenceNote]) -> Ranked:
    """Limits each type to three if there are others, and fills the places from those that had no room."""
    if len({row.type for row in [*kept, *overflow]}) < 2:
        return kept
    count: Counter[str] = Counter()
    left: Ranked = []
    for row in rank(kept):
        count[row.type] += 1
        if count[row.type] <= MOST_OF_TYPE:
            left.append(row)
    for name, number in count.items():
        if number > MOST_OF_TYPE:
            notes.append(PreferenceNote("category_ceiling_applied", category=name, dropped=number - MOST_OF_TYPE))
            count[name] = MOST_OF_TYPE
    filling: Ranked = []
    for row in overflow:
        if len(left) + len(filling) == len(kept):
            break
        both = [*left, *filling]
        avoided = sum(one.polarity < 0 for one in both)
        room = row.polarity > 0 or avoided < max(LEAST_AVOIDED, len(both) - avoided)
        if count[row.type] < MOST_OF_TYPE and room:
            count[row.type] += 1
            filling.append(row)
    if filling:
        notes.append(PreferenceNote("category_backfill", tuple(row.id for row in filling)))
    return [*left, *filling]


def fit_tokens(rows: Ranked, tokens: int, notes: list[PreferenceNote]) -> Ranked:
    """Keeps whole rows that fit; skips those that don't."""
    used, shown = HEAD_TOKENS, []
    for row in rows:
        size = weight(row)
        if used + size > tokens:
            notes.append(PreferenceNote("token_budget_exceeded", (row.id,)))
            continue
        used += size
        shown.append(row)
    return shown


def weight(row: Preference) -> int:
    """Returns an estimate of a preference's tokens."""
    return -(-len(row.pattern) // 4) + LINE_TOKENS


def format_rows(rows: Ranked, variant: Literal["answer", "critique"], speaker: str) -> str:
    """Formats the rows under their headings, in Markdown. They are in the order in which they were learned, so that
    the cached prompt stays the same when one of them is only seen again."""
    rows = sorted(rows, key=lambda row: row.id)
    prefer, avoid = (
        [
            f"{verb} ({level}): {' · '.join(names)}"
            for level in ("high", "medium")
            if (names := [row.pattern for row in rows if not row.here and row.polarity == sign and row.level == level])
        ]
        for verb, sign in (("Prefer", 1), ("Avoid", -1))
    )
    own = [
        f"{verb} {' · '.join(names)}"
        for verb, sign in (("prefer", 1), ("avoid", -1))
        if (names := [row.pattern for row in rows if row.here and row.polarity == sign])
    ]
    if variant == "critique":
        return "\n".join([CHECK, *avoid, *prefer, *([f"This conversation says: {'; '.join(own)}"] if own else [])])
    head = HEAD.replace("THE USER LIKES", f"{speaker} LIKES") if speaker else HEAD
    return "\n".join([head, *prefer, *avoid, *([f"In this conversation: {'; '.join(own)}"] if own else [])])


def reminder(layer: PreferenceLayer, text: str) -> str:
    """Returns the layer's strongest preference relevant to a message, to repeat beside it; empty if none."""
    said = set(re.findall(r"\w+", text.casefold()))
    bearing = [
        row
        for row in layer.shown
        if row.level == "high"
        and (row.type in ALWAYS_BEAR or said & {row.type, *re.findall(r"\w+", row.pattern)} - COMMON)
    ]
    used, parts = 0, []
    for row in bearing[:REMINDERS]:
        part = in_words(row.polarity, row.pattern)
        used += -(-len(part) // 4)
        if used > REMINDER_TOKENS:
            break
        parts.append(part)
    return f"How they like answers: {'; '.join(parts)}." if parts else ""


COMMON = frozenset(["and", "or", "the", "a", "an", "of", "to", "with", "in", "for", "other"])
