"""Texts as a prompt holds them: measured, cut, and so marked that nobody can speak as somebody else. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from relay.core.models import Block

CACHE = {"type": "ephemeral"}
MARKS = ("untrusted", "recalled", "summary", "context", "reply", "said")
UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
"""Signs that nobody sees."""
ANY_UNSEEN = re.compile(UNSEEN[:-1] + "+")
BLOCKS = ((0x2100, 0x2150), (0x24B6, 0x24EA), (0xFF21, 0xFF5B), (0x1D400, 0x1D6A4))
"""Where Unicode has letters in other shapes: of full width, bold, in circles."""
SHAPES: dict[str, str] = {}
for _sign in (chr(number) for block in BLOCKS for number in range(*block)):
    _letter = unicodedata.normalize("NFKC", _sign).lower()
    SHAPES[_letter] = SHAPES.get(_letter, _letter) + _sign


def alike(word: str) -> str:
    """A pattern of a word, also in letters of other shapes, and with signs between them that nobody sees."""
    return UNSEEN.join(f"[{SHAPES[letter]}]" for letter in word)


NAME_LENGTH = 40
SPECIAL = frozenset(
    '[](){}<>:"`|=\u2329\u232a\u3008\u3009\u27e8\u27e9\u2039\u203a\u00ab\u00bb\u201c\u201d\u201e\u300c\u300d\u3010\u3011\ua789\u2236'
)
"""What stands around names, in their usual shape (Unicode's NFKC), and what looks like it."""
NOBODYS_NAMES = {"", "you", "system", "assistant", "the assistant", "memory"}
OPENING = "<\ufe64\uff1c"
OWN_TAGS = re.compile(rf"[{OPENING}]([^\w<]{{0,30}}?)({'|'.join(map(alike, MARKS))})(?!\w)", re.IGNORECASE)
"""Our marks, also with a slash, spaces or signs between that nobody sees, and in letters of other shapes."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its UTF-8 bytes, rounded up (Anthropic's rule of thumb)."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def fits(text: str, tokens: int) -> str:
    """The head of a text within a number of tokens, marked when it was cut."""
    if estimate_tokens(text) <= tokens:
        return text
    return text.encode("utf-8", "replace")[: tokens * 4].decode("utf-8", "ignore") + " […]"


def shorten_longest(texts: Sequence[str], share: float) -> list[str]:
    """Texts of which a share (0–1] is left: the longest are cut to one length, and marked."""
    sizes = sorted(map(estimate_tokens, texts))
    left = int(sum(sizes) * share)
    for shorter, size in enumerate(sizes):
        level = left // (len(sizes) - shorter)
        if size > level:
            return [fits(text, level) for text in texts]
        left -= size
    return list(texts)


def neutralize_markup(text: str) -> str:
    """A text that cannot close or open one of the prompt's own marks."""
    return OWN_TAGS.sub(r"‹\1\2", text) if any(sign in text for sign in OPENING) else text


def without_unseen(text: str) -> str:
    """A text without signs that nobody sees, among them those that turn the direction of writing."""
    return ANY_UNSEEN.sub("", text)


def plain_name(name: str) -> str:
    """A person's name as one short word or two: no brackets, quotes, marks or line breaks, also of other shapes, and
    never one that means somebody else in a prompt."""
    plain = "".join(
        sign for sign in name if sign.isprintable() and not SPECIAL & set(unicodedata.normalize("NFKC", sign))
    )
    plain = " ".join(plain.split())[:NAME_LENGTH].strip()
    return "somebody" if unicodedata.normalize("NFKC", plain).casefold() in NOBODYS_NAMES else plain


def untrusted(text: str, kind: str, by: str = "") -> str:
    """A text that somebody else wrote, delimited as data."""
    source = f' from="{plain_name(by)}"' if by else ""
    return f'<untrusted kind="{kind}"{source}>\n{neutralize_markup(text)}\n</untrusted>'


def text_block(text: str, cached: bool = False) -> Block:
    return {"type": "text", "text": text, "cache_control": CACHE} if cached else {"type": "text", "text": text}


def said_by(name: str, block: Block) -> Block:
    """A block of a group's message, so marked that nobody can speak as somebody else."""
    return text_block(f'<said by="{plain_name(name)}">\n{block["text"]}\n</said>') if block["type"] == "text" else block
