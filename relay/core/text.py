"""Texts as people read them: escaped, shortened, counted. Pure."""

from __future__ import annotations

import re

BIDI_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of writing for everything after them."""


def escape_markdown(text: str) -> str:
    """What somebody wrote as Markdown that shows exactly this text, on one line. A command in it is not one of ours."""
    return escape_sentence(text).replace("/", "&#47;")


def escape_sentence(text: str) -> str:
    """The same for a sentence of ours: the commands that it names are named in the shell as they are typed there."""
    # As character references: a backslash before a bracket would begin a formula.
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]()<>#~|$!&" else c for c in one_line(text))


def shorten(text: str, length: int = 90) -> str:
    """A text on one line, cut to a length."""
    text = one_line(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """A text with single spaces, without control characters for the direction of writing."""
    return " ".join(BIDI_CONTROLS.sub("", text).split())


def parse_number(text: str) -> int | None:
    """A text as a number that can be an id (up to 18 digits); None for anything else."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def pluralize(number: int, one: str, many: str = "") -> str:
    """A number of things in words. `many`: the plural, where adding an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def format_tokens(number: float, beside: float = 0) -> str:
    """A number of tokens in at most five characters, in the unit of the larger number `beside` it."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if max(number, beside) >= limit:
            value = number / limit
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number:.0f}"
