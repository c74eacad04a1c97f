"""How people like answers, as readable Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from pydantic import TypeAdapter

from relay.archive.export_rows import Id, RawRow
from relay.core.frozen import frozen
from relay.core.text import shorten
from relay.memory.rows.turns.preferences import Evidence, Preference

ACTS = {
    "accept": "keeping an answer",
    "refine": "improving an answer",
    "tag": "a tag",
    "thumbs": "a reaction",
    "abandon": "stopping an answer",
    "revert": "bringing an answer back",
    "compare": "a choice between two answers",
    "said": "saying so",
}
STATES = {"under_review": "in doubt", "archived": "retired"}
QUOTED = 80


@frozen
class PreferenceRow:
    """A preference in an export, with the newest of the acts that taught it."""

    preference: Preference
    learned_from: tuple[Evidence, ...]
    total: int
    """How many acts taught it."""
    thread: Id | None = None
    name: str | None = None
    """In a group, the name of the person whose preference it is."""


_ROW = TypeAdapter(PreferenceRow)


def preference_row(row: RawRow) -> PreferenceRow:
    """Reads the row of a preference in an export."""
    return _ROW.validate_python(row)


def preferences_text(rows: Sequence[PreferenceRow], zone: tzinfo) -> Iterator[str]:
    """Yields lines with what each person prefers and avoids, the strongest first; none if nothing is known."""
    for name in dict.fromkeys(row.name for row in rows):
        yield f"\n## How {name} likes answers\n" if name else "\n## How you like answers\n"
        own = sorted((row for row in rows if row.name == name), key=lambda row: -row.preference.strength)
        for title, polarity in (("Prefer", 1), ("Avoid", -1)):
            part = [row for row in own if row.preference.polarity == polarity]
            if part:
                yield f"\n### {title}\n\n"
            for row in part:
                yield from _lines(row, zone)


def _lines(row: PreferenceRow, zone: tzinfo) -> Iterator[str]:
    one = row.preference
    state = STATES.get(one.status) or (one.level if one.acts else f"{one.level}: not sure yet")
    yield f"- {one.pattern} ({state}{', only in one chat' if one.here else ''})\n"
    for act in row.learned_from:
        sign = "from" if act.polarity == one.polarity else "against it:"
        quote = f": “{shorten(act.text, QUOTED)}”" if act.text else ""
        yield f"  - {sign} {ACTS.get(act.kind, act.kind)} ({act.at.astimezone(zone):%Y-%m-%d %H:%M}){quote}\n"
    if row.total > len(row.learned_from):
        yield f"  - and {row.total - len(row.learned_from)} earlier\n"
