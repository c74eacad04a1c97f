"""Texts as people read them: escaped, shortened, counted. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

BIDI_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that change the direction of writing for everything after them."""
LINE_START = re.compile(r"^((?:[-+=]|[0-9]+\.)(?=[ =-])|[0-9]*(?=[-+=.]$))(.)")
"""What begins a list or underlines a heading, at the beginning of a line: the sign, and the character that makes it
one."""


def escape_markdown(text: str) -> str:
    """Returns a text as Markdown that shows exactly this text, on one line. Commands in it are not taken for
    Relay's."""
    return escape_sentence(text).replace("/", "&#47;")


def escape_lines(text: str) -> str:
    """Returns a text as Markdown like `escape_markdown`, with its lines."""
    return "\n".join(line for one in text.splitlines() if (line := escape_markdown(one)))


def escape_sentence(text: str) -> str:
    """Returns one of Relay's own sentences as Markdown. A shell shows the commands in it as they are typed there."""
    # As character references: a backslash before a bracket would begin a formula.
    escaped = "".join(f"&#{ord(c)};" if c in "\\`*_[]()<>#~|$!&" else c for c in one_line(text))
    return LINE_START.sub(lambda start: f"{start[1]}&#{ord(start[2])};", escaped, count=1)


def shorten(text: str, length: int = 90) -> str:
    """Returns a text on one line, cut to a length in characters."""
    text = one_line(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Returns a text with single spaces and without control characters for the direction of writing."""
    return " ".join(BIDI_CONTROLS.sub("", text).split())


def utf16_offsets(text: str) -> Sequence[int]:
    """Returns the UTF-16 offset of every index of a text, including its end. Telegram counts in these."""
    if text.isascii() or max(text) < "\U00010000":
        return range(len(text) + 1)
    return list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))


def plain_digits(text: str) -> str:
    """Returns a text with the decimal digits of all scripts as 0 to 9."""
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def parse_number(text: str) -> int | None:
    """Returns a text as a number that can be an id (up to 18 digits); None for anything else."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def pluralize(number: int, one: str, many: str = "") -> str:
    """Returns a number of things in words. `many`: the plural, if adding an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Joins names: Monday, Tuesday and Friday."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def format_tokens(number: float, beside: float = 0) -> str:
    """Returns a number of tokens in at most five characters, in the unit of the larger number `beside` it."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if max(number, beside) >= limit:
            value = number / limit
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number:.0f}"
