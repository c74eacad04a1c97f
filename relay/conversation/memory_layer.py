"""The memory layer of a prompt: pinned and most important memories by kind, within a budget. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import tzinfo

from relay.core.frozen import frozen
from relay.core.prompt_markup import call_person, estimate_tokens
from relay.memory.intents import CATEGORIES
from relay.memory.rows.choices import Choices
from relay.memory.rows.turns.context import Memory
from relay.memory.rows.turns.record import LayerRecord, PromptRecord, SortRecord

FACTS = {
    "fact": "Facts",
    "person": "People",
    "preference": "Preferences",
    "decision": "Decisions",
    "goal": "Goals",
    "event": "Events",
    "feeling": "Feelings",
}
"""The kinds of facts with their headings, in order."""
LINE_TOKENS, DAY_TOKENS = 4, 5
"""How many tokens an item takes besides its text, and the day on which it was said."""
TAG = re.compile(r"\[(?=[^\w\[\]]{0,8}(?:learn|forget|remember|voice.?reply)\b)", re.IGNORECASE)


@frozen
class MemoryLayer:
    """A prompt's memory layer and its record."""

    text: str
    """Empty if there is nothing."""
    memories: tuple[int, ...]
    """Ids of included memories."""
    dropped: tuple[int, ...]
    """Ids of loaded memories left out."""
    record: LayerRecord | None = None
    """None: there are no memories."""


def memory_layer(
    memories: Sequence[Memory],
    counts: Mapping[str, int],
    group: bool,
    tokens: int,
    zone: tzinfo,
    faded: int = 0,
    people: Mapping[int, str] | None = None,
) -> MemoryLayer:
    """Builds the layer within `tokens`; an item is included whole or not at all. `counts`: memories per kind, loaded
    or not. `faded`: how many of them are learnings unused for long. `people`: see `Incoming`."""
    kept, left = take_memories(memories, tokens)
    ids, dropped = tuple(row.id for row in kept), tuple(row.id for row in left)
    if not memories and not any(counts.values()):
        return MemoryLayer("", ids, dropped)
    total = Counter(sort_of(row) for row in [*kept, *left])
    known = {sort: max(counts.get(sort, 0), number) for sort, number in total.items()} | {
        sort: number for sort, number in counts.items() if sort not in total
    }
    used = {sort: [row for row in kept if sort_of(row) == sort] for sort in known}

    def section(heading: str, sort: str) -> str:
        rows = used.get(sort)
        if not rows:
            return ""
        among = f"{len(rows)} of {known[sort]}" if known[sort] > len(rows) else len(rows)
        return "\n".join([f"{heading} ({among})", *(line(row, group, zone, people or {}) for row in rows)])

    about = "THE PEOPLE HERE" if group else "THE USER"
    facts = "\n".join(filter(None, (section(f"## {name}", kind) for kind, name in FACTS.items())))
    learned = (section(f"# WHAT I LEARNED: {category.upper()}", category) for category in CATEGORIES)
    text = "\n\n".join(filter(None, (f"# THINGS I KNOW ABOUT {about}\n{facts}" if facts else "", *learned)))
    sorts = {sort: SortRecord(len(rows), known[sort], sum(map(weight, rows))) for sort, rows in used.items()}
    unread = sum(known.values()) - len(kept) - len(left)
    return MemoryLayer(text, ids, dropped, LayerRecord(tokens, sorts, reasons(left, tokens, unread, faded)))


def take_memories(memories: Sequence[Memory], tokens: int) -> tuple[list[Memory], list[Memory]]:
    """Splits memories into those that fit, pinned and most important first, sorted by id so that the text stays the
    same until memory changes; and the rest."""
    kept: list[Memory] = []
    left: list[Memory] = []
    used = 0
    for row in sorted(memories, key=lambda row: (not row.pinned, -row.importance, -row.id)):
        fits = used + weight(row) <= tokens
        used += weight(row) if fits else 0
        (kept if fits else left).append(row)
    return sorted(kept, key=lambda row: row.id), left


def reasons(left: Sequence[Memory], tokens: int, unread: int, faded: int = 0) -> dict[str, int]:
    """Counts memories left out by reason. `unread`: those that the database left out, `faded` of them because they
    were unused for long."""
    large, faded = sum(weight(row) > tokens for row in left), max(0, min(faded, unread))
    told = {
        "longer than the whole budget": large,
        "no room": len(left) - large + max(0, unread) - faded,
        "not used in half a year": faded,
    }
    return {why: number for why, number in told.items() if number}


def sort_of(row: Memory) -> str:
    """Returns the kind of a fact or the category of a learning."""
    if row.kind != "learning":
        return row.kind
    return row.category if row.category in CATEGORIES else "knowledge"


def line(row: Memory, group: bool, zone: tzinfo, people: Mapping[int, str]) -> str:
    """Formats a memory for the model: a goal with its deadline, and a person's own words with the day on which they
    said them. That day is in their own zone, so that a group's prompt doesn't depend on who asks. `zone`: if theirs is
    unknown."""
    subject = f"{call_person(row.subject_id, row.subject, people)}: " if group and row.subject else ""
    until = row.valid_until if row.kind == "goal" else None
    zone = Choices(zone=row.zone).zone_or(zone)
    deadline = f" (by {until.astimezone(zone):%Y-%m-%d})" if until else ""
    said = f" (said {row.said_at.astimezone(zone):%Y-%m-%d})" if row.said_at else ""
    return f"- {subject}{as_note(row.content)}{said}{deadline}"


def as_note(text: str) -> str:
    """Reduces a memory to one line of plain words. It can't open or close prompt markup, be a heading, or contain a
    tag, not even with look-alikes or invisible characters."""
    note = " ".join(text.split())
    seen = "".join(c for c in unicodedata.normalize("NFKC", note) if unicodedata.category(c) != "Cf")
    if "<" in seen or TAG.search(seen):
        note = TAG.sub("(", " ".join(seen.split())).replace("<", "‹")
    return f"\\{note}" if note[:1] in ("#", ">") else note


def as_written(note: str) -> str:
    """Restores the brackets of tags that `as_note` removed, to recognise repetitions."""
    return note.replace("(", "[")


def weight(row: Memory) -> int:
    """Returns an estimate of a memory's tokens."""
    return estimate_tokens(row.content) + LINE_TOKENS + (DAY_TOKENS if row.said_at else 0)


def diagnostic(record: PromptRecord) -> str:
    """Describes the memory part of a prompt in a line or two; empty if there is none."""
    layer = record.memory_layer
    if not layer:
        return ""
    tokens, count = sum(one.tokens for one in layer.sorts.values()), sum(one.taken for one in layer.sorts.values())
    by_sort = ", ".join(
        f"{FACTS.get(name, name).lower()} {one.taken}" + (f" of {one.known}" if one.known > one.taken else "")
        for name, one in layer.sorts.items()
        if one.known
    )
    told = f"🧠 memory: {count} in the prompt, about {tokens:,} of {layer.budget:,} tokens ({by_sort})"
    if layer.dropped:
        told += "; left out: " + ", ".join(f"{number} ({why})" for why, number in layer.dropped.items())
    recalled = len(record.recalled) + len(record.recalled_memories)
    told += f"; recalled: {recalled}" if recalled else ""
    return told + (f"; preferences: {len(record.preferences)}" if record.preferences else "")
