"""Text in prompts: measured, cut, and delimited so that nobody can impersonate someone else. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from relay.core.models import Block, ModelRequest, ToolDefinition

CACHE = {"type": "ephemeral"}
MARKS = ("untrusted", "recalled", "summary", "composed", "context", "reply", "said")
INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
"""Invisible characters."""
ANY_INVISIBLE = re.compile(INVISIBLE[:-1] + "+")
BLOCKS = ((0x2100, 0x2150), (0x24B6, 0x24EA), (0xFF21, 0xFF5B), (0x1D400, 0x1D6A4))
"""Unicode blocks with variants of letters: full-width, bold, circled."""
SHAPES: dict[str, str] = {}
for _sign in (chr(number) for block in BLOCKS for number in range(*block)):
    _letter = unicodedata.normalize("NFKC", _sign).lower()
    SHAPES[_letter] = SHAPES.get(_letter, _letter) + _sign


def match_variants(word: str) -> str:
    """Returns a pattern that matches a word, also in letter variants and with invisible characters in between."""
    return INVISIBLE.join(f"[{SHAPES[letter]}]" for letter in word)


NAME_LENGTH = 40
SPECIAL = frozenset(
    '[](){}<>:"`|=\u2329\u232a\u3008\u3009\u27e8\u27e9\u2039\u203a\u00ab\u00bb\u201c\u201d\u201e\u300c\u300d\u3010\u3011\ua789\u2236'
)
"""Delimiters of names (as NFKC), and their look-alikes."""
NOBODYS_NAMES = {"", "you", "system", "assistant", "the assistant", "memory"}
OPENING = "<\ufe64\uff1c"
OWN_TAGS = re.compile(rf"[{OPENING}]([^\w<]{{0,30}}?)({'|'.join(map(match_variants, MARKS))})(?!\w)", re.IGNORECASE)
"""Our own markup, also with slashes, spaces, invisible characters, or letter variants."""


def estimate_tokens(text: str) -> int:
    """Returns an estimate of a text's tokens: a quarter of its UTF-8 bytes, rounded up (Anthropic's rule of thumb)."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def cut_to_tokens(text: str, tokens: int) -> str:
    """Returns a text cut to a number of tokens, with the cut marked."""
    if estimate_tokens(text) <= tokens:
        return text
    return text.encode("utf-8", "replace")[: tokens * 4].decode("utf-8", "ignore") + " […]"


def shorten_longest(texts: Sequence[str], share: float) -> list[str]:
    """Shortens texts to a share (0–1] of their total: cuts the longest to one length, and marks the cuts."""
    sizes = sorted(map(estimate_tokens, texts))
    left = int(sum(sizes) * share)
    for shorter, size in enumerate(sizes):
        level = left // (len(sizes) - shorter)
        if size > level:
            return [cut_to_tokens(text, level) for text in texts]
        left -= size
    return list(texts)


def neutralize_markup(text: str) -> str:
    """Makes a text unable to open or close the prompt's markup."""
    return OWN_TAGS.sub(r"‹\1\2", text) if any(sign in text for sign in OPENING) else text


def remove_invisible(text: str) -> str:
    """Returns a text without invisible characters, including those that change the direction of writing."""
    return ANY_INVISIBLE.sub("", text)


def clean_name(name: str) -> str:
    """Reduces a person's name to one or two short words without brackets, quotes, markup or line breaks, including
    look-alikes, and never a name that means someone else in a prompt."""
    plain = "".join(
        sign for sign in name if sign.isprintable() and not SPECIAL & set(unicodedata.normalize("NFKC", sign))
    )
    plain = " ".join(plain.split())[:NAME_LENGTH].strip()
    return "somebody" if unicodedata.normalize("NFKC", plain).casefold() in NOBODYS_NAMES else plain


def marked_name(name: str, mark: str | None) -> str:
    """Returns a person's clean name with what tells them apart from namesakes, in brackets, which no name has."""
    return f"{clean_name(name)} ({mark})" if mark else clean_name(name)


def call_person(user_id: int | None, name: str, people: Mapping[int, str]) -> str:
    """Returns what a prompt calls a person. `people`: the marked names where some are the same."""
    return people.get(user_id or 0) or clean_name(name)


def mark_untrusted(text: str, kind: str, by: str = "") -> str:
    """Returns a text by someone else, delimited as data."""
    source = f' from="{clean_name(by)}"' if by else ""
    return f'<untrusted kind="{kind}"{source}>\n{neutralize_markup(text)}\n</untrusted>'


def text_block(text: str, cached: bool = False) -> Block:
    return {"type": "text", "text": text, "cache_control": CACHE} if cached else {"type": "text", "text": text}


def make_request(
    model: str, system: str, words: str, max_tokens: int, tool: ToolDefinition | None = None, form: bool = False
) -> ModelRequest:
    """Returns a request for one answer to some words. `tool`: the model must answer with it. `form`: see
    `ModelRequest`."""
    messages = [{"role": "user", "content": [text_block(words)]}]
    choice: dict[str, object] | None = {"type": "tool", "name": tool["name"]} if tool else None
    return ModelRequest(model, [text_block(system)], messages, max_tokens, [tool] if tool else [], choice, form)


def mark_speaker(name: str, block: Block) -> Block:
    """Returns a block of a group message, marked with its speaker's clean name: nobody can impersonate someone else."""
    return text_block(f'<said by="{name}">\n{block["text"]}\n</said>') if block["type"] == "text" else block
