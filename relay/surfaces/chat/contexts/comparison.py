"""Renders two versions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape

from relay.core.models import File
from relay.core.text import escape_markdown, format_tokens, shorten
from relay.memory.rows.contexts.versions import ComparedVersions, LoneMarker, Version
from relay.surfaces.chat.difference import difference

MOST = 7_000
"""The most characters of a difference in a chat: two messages. A longer one is sent as a file."""
MARKERS = 5
"""The most markers listed for each version."""
NAMES = {
    "tierPreset": "preset",
    "customTiers": "parts",
    "compactionRatio": "ratio",
    "aggressiveness": "level",
    "skipFirstMessages": "first messages kept unchanged",
    "keepitMode": "markers",
    "sessionDistance": "session distance",
}
"""The settings that have another name in a chat."""


def comparison(found: ComparedVersions) -> tuple[str, File | None]:
    """Returns the settings, sizes and markers of both, and the difference of their texts, as a file if it is long."""
    a, b = found.a.version, found.b.version
    lines = [f"**{escape_markdown(a.name)}** ⇄ **{escape_markdown(b.name)}**", _sizes(a, b), *_settings(a, b)]
    for one, lone in ((a, found.only_a), (b, found.only_b)):
        if lone:
            lines.append(f"📌 only in {one.short}: {_markers(lone)}")
    head = "\n".join(lines)
    words = difference(found.a.text, found.b.text) or "The text is identical."
    if len(head) + len(words) <= MOST:
        return f"{head}\n\n{words}", None
    return head, File(f"{a.name}_{b.name}.md", unescape(f"{head}\n\n{words}\n").encode())


def _sizes(a: Version, b: Version) -> str:
    tokens = f"{format_tokens(a.tokens, b.tokens)} ⇄ {format_tokens(b.tokens, a.tokens)} tokens"
    return f"{tokens}, {a.output_messages or 0} ⇄ {b.output_messages or 0} messages"


def _settings(a: Version, b: Version) -> list[str]:
    """Returns a line for each setting that differs."""
    names = [name for name in dict.fromkeys([*a.settings, *b.settings]) if a.settings.get(name) != b.settings.get(name)]
    return [f"{NAMES.get(name, name)}: {_value(a, name)} ⇄ {_value(b, name)}" for name in names]


def _value(one: Version, name: str) -> str:
    value = one.settings.get(name)
    return "–" if value is None else escape_markdown(shorten(str(value), 60))


def _markers(lone: Sequence[LoneMarker]) -> str:
    told = [f"{one.weight:.2f} “{escape_markdown(shorten(one.content, 60))}”" for one in lone[:MARKERS]]
    return ", ".join([*told, *([f"and {len(lone) - MARKERS} more"] if len(lone) > MARKERS else [])])
