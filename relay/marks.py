"""Texts as a prompt holds them: measured, cut, and so marked that nobody can speak as somebody else. Pure."""

from __future__ import annotations

import re

from relay.models import Block

CACHE = {"type": "ephemeral"}
OWN_TAGS = re.compile(r"<([^\w<]{0,8}?)(untrusted|recalled|summary|context|reply|said)\b", re.IGNORECASE)
"""Our marks, also with a slash, spaces or invisible characters between."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its UTF-8 bytes, rounded up (Anthropic's rule of thumb)."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def fits(text: str, tokens: int) -> str:
    """The head of a text within a number of tokens, marked when it was cut."""
    if estimate_tokens(text) <= tokens:
        return text
    return text.encode("utf-8", "replace")[: tokens * 4].decode("utf-8", "ignore") + " […]"


def harmless(text: str) -> str:
    """A text that cannot close or open one of the prompt's own marks."""
    return OWN_TAGS.sub(r"‹\1\2", text)


def plain_name(name: str) -> str:
    """A person's name as one short word or two: no brackets, quotes, marks or line breaks."""
    return re.sub(r"[\[\](){}<>:\"`\n\r]+", "", "".join(c for c in name if c.isprintable())).strip()[:40] or "somebody"


def untrusted(text: str, kind: str, by: str = "") -> str:
    """A text that somebody else wrote, delimited as data."""
    source = f' from="{plain_name(by)}"' if by else ""
    return f'<untrusted kind="{kind}"{source}>\n{harmless(text)}\n</untrusted>'


def text_block(text: str, cached: bool = False) -> Block:
    return {"type": "text", "text": text, "cache_control": CACHE} if cached else {"type": "text", "text": text}


def said_by(name: str, block: Block) -> Block:
    """A block of a group's message, so marked that nobody can speak as somebody else."""
    return text_block(f'<said by="{plain_name(name)}">\n{block["text"]}\n</said>') if block["type"] == "text" else block
