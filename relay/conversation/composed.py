"""Earlier sessions, composed, with which a conversation began. A part is shown whole or not at all. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from relay.conversation.history import day_of
from relay.core.frozen import frozen
from relay.core.prompt_markup import estimate_tokens, neutralize_markup
from relay.memory.rows.contexts.composition import ComposedRow
from relay.memory.rows.turns.context import ComposedContext
from relay.memory.rows.turns.record import ComposedRecord


@frozen
class ComposedLayer:
    """A composition as a prompt shows it."""

    text: str
    """The text; empty: there is none."""
    record: ComposedRecord | None
    """None: the conversation began with no composition."""


def composed_layer(composed: ComposedContext | None, share: float, zone: tzinfo) -> ComposedLayer:
    """Renders a composition, with a line where a new day begins. `share` below 1, for a model that found the prompt too
    long, leaves parts out, the oldest first."""
    if composed is None:
        return ComposedLayer("", None)
    parts = parts_of(composed.rows)
    texts = ["\n".join(lines_of(part, zone)) for part in parts]
    left_out = oldest_beyond(parts, texts, share)
    shown = [text for place, text in enumerate(texts) if place not in left_out]
    record = ComposedRecord(composed.id, len(shown), len(left_out))
    text = "\n\n".join(shown)
    return ComposedLayer(f'<composed name="{composed.name}">\n{text}\n</composed>' if shown else "", record)


def parts_of(rows: Sequence[ComposedRow]) -> list[list[ComposedRow]]:
    """Splits rows at their headings."""
    parts: list[list[ComposedRow]] = []
    for row in rows:
        if row.role == "heading" or not parts:
            parts.append([])
        parts[-1].append(row)
    return parts


def lines_of(part: Sequence[ComposedRow], zone: tzinfo) -> Iterator[str]:
    """Yields the lines of a part. A row from another day than the one before has its date above it, so that "tomorrow"
    has a date in both; the heading names the first day."""
    day = ""
    for row in part:
        before, day = day, day_of(row.at, zone) if row.at else day
        if row.role != "heading" and day != before:
            yield f"({day})"
        yield line(row)


def line(row: ComposedRow) -> str:
    """Renders a row. It can't open or close the prompt's markup."""
    text = neutralize_markup(row.text)
    return f"# {text}" if row.role == "heading" else f"{'You' if row.role == 'assistant' else 'User'}: {text}"


def oldest_beyond(parts: Sequence[Sequence[ComposedRow]], texts: Sequence[str], share: float) -> set[int]:
    """Returns the indexes of the parts that have no room, starting with the oldest."""
    sizes = [estimate_tokens(text) for text in texts]
    budget = sum(sizes) * share
    out: set[int] = set()
    for place in sorted(range(len(parts)), key=lambda place: began(parts[place])):
        if sum(sizes) - sum(sizes[one] for one in out) <= budget:
            break
        out.add(place)
    return out


def began(part: Sequence[ComposedRow]) -> float:
    """Returns when a part's session began, in Unix seconds."""
    return part[0].at.timestamp() if part[0].at else 0.0
