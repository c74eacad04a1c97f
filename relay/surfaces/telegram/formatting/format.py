"""Converts the assistant's Markdown to Telegram messages: text with entities, whose markup Telegram can't refuse."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import TypeVar

import structlog

from relay.core.frozen import frozen
from relay.core.text import utf16_offsets
from relay.surfaces.telegram.formatting.markdown import convert
from relay.surfaces.telegram.formatting.split import LIMIT, split, tail_start
from relay.surfaces.telegram.formatting.styled import Entity, Span, clip, entities, is_blank, tidy
from relay.surfaces.telegram.parsing.message_parser import HEARD

log = structlog.get_logger()
T = TypeVar("T")

FOOTER_LIMIT = 3000
"""UTF-16 code units of the footer."""
_TOOLS_LIMIT = 1000  # of the tools line; both together fit in one message
_LONG = 2000  # characters that are always formatted quickly
_COLLAPSED = 300  # characters; longer transcripts are shown collapsed
_PREVIEW_END = 3000  # characters at the end that are searched for an unfinished link
_REMOVED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")  # Telegram drops these, or refuses them
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")
_MOMENT = re.compile(r"\[([^\[\]\n]{1,100})\]\((tg://time\?unix=\d{1,12})\)")
_UNFINISHED_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}$")


@frozen
class Formatted:
    """One message: its text, and its Bot API entities with offsets and lengths in UTF-16 code units."""

    text: str
    entities: list[Entity]


async def run_formatting(work: Callable[[str], T], markdown: str) -> T:
    """Runs `work(markdown)`, which formats. A long text is formatted in a thread, where it may take more time
    without blocking others. A text that takes too long is shown as plain text."""
    if len(markdown) <= _LONG:
        return work(markdown)
    return await asyncio.to_thread(work, markdown)


def format_reply(markdown: str, *, footer: str = "", tools: str = "") -> list[Formatted]:
    """Returns the messages of an answer, each at most 4,096 UTF-16 code units and 100 entities. Never raises.

    Below the answer come `tools` (the tools that ran: a collapsed quote) and `footer` (what memory did: one plain
    line), in a separate message if the last one is full. Without visible text the list is empty.
    """
    parts = split(*_render(markdown))
    below = _format_footer(tools, footer)
    if not is_blank(below[0]):
        parts = _append(parts, *below)
    return [Formatted(text, entities(text, spans)) for text, spans in parts]


def format_preview(markdown: str) -> Formatted:
    """Returns the preview of an unfinished answer: all of it, or the end that fits. Never raises.

    Accepts unfinished Markdown. The text is empty as long as nothing is visible.
    """
    head, end = markdown[:-_PREVIEW_END], markdown[-_PREVIEW_END:]
    text, spans = _render(head + _UNFINISHED_LINK.sub(r"\1", end))
    start = tail_start(text)
    if start:
        spans = [span._replace(start=span.start + 2, end=span.end + 2) for span in clip(text, spans, start, len(text))]
        text = "…\n" + text[start:]
    return Formatted(text, entities(text, spans))


def format_heard(text: str) -> Formatted:
    """Formats a transcript as one message: collapsed if it is long, cut if it doesn't fit."""
    shown = shorten(f"{HEARD} {_clean(text).strip()}", LIMIT)
    spans = [Span(0, len(shown), "expandable_blockquote")] if len(shown) > _COLLAPSED else []
    return Formatted(shown, entities(shown, spans))


def shorten(text: str, most: int) -> str:
    """Cuts a text to a number of UTF-16 code units; an ellipsis marks the cut."""
    offsets = utf16_offsets(text)
    return text if offsets[-1] <= most else text[: bisect_right(offsets, most - 2) - 1].rstrip() + " …"


def _format_footer(tools: str, footer: str) -> tuple[str, list[Span]]:
    """Returns the text and spans below the answer."""
    tools = "\n".join(line.strip() for line in _clean(tools).split("\n") if not is_blank(line))
    tools, footer = shorten(tools, _TOOLS_LIMIT), shorten(" ".join(_clean(footer).split()), FOOTER_LIMIT)
    spans = [Span(0, len(tools), "expandable_blockquote")] if tools else []
    footer, moments = _moments(footer)
    shift = len(tools) + 1 if tools else 0
    spans += [one._replace(start=one.start + shift, end=one.end + shift) for one in moments]
    return "\n".join(line for line in (tools, footer) if line), spans


def _moments(footer: str) -> tuple[str, list[Span]]:
    """Returns a footer's text, and its moments as spans. No other Markdown is converted."""
    text, spans, begin = "", [], 0
    for link in _MOMENT.finditer(footer):
        text += footer[begin : link.start()]
        spans.append(Span(len(text), len(text) + len(link[1]), "text_link", link[2]))
        text, begin = text + link[1], link.end()
    return text + footer[begin:], spans


def _append(parts: list[tuple[str, list[Span]]], text: str, spans: list[Span]) -> list[tuple[str, list[Span]]]:
    """Adds `text` to the last part if it fits, otherwise as a new part."""
    if not parts:
        return [(text, spans)]
    last, marked = parts[-1]
    whole = f"{last}\n\n{text}"
    if utf16_offsets(whole)[-1] > LIMIT:
        return [*parts, (text, spans)]
    shift = len(last) + 2
    moved = [span._replace(start=span.start + shift, end=span.end + shift) for span in spans]
    return [*parts[:-1], (whole, marked + moved)]


def _clean(text: str) -> str:
    """Removes or replaces characters that Telegram refuses, drops or changes (it turns a tab into a space)."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _REMOVED.sub("", _LINE_END.sub("\n", text)).expandtabs(4)


def _render(markdown: str) -> tuple[str, list[Span]]:
    """Returns plain text and tidy spans; the Markdown itself if it can't be converted or would show nothing."""
    source = _clean(markdown)
    try:
        text, spans = convert(source)
        if not is_blank(text):
            return text, tidy(text, spans)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the Rust parser is not an Exception
        log.warning("markdown shown as plain text", error=type(error).__name__)
    return ("" if is_blank(source) else source.strip()), []
