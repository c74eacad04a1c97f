"""The assistant's Markdown as Telegram messages: plain text with entities, which no markup error can get refused."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from relay.surfaces.telegram.formatting.markdown import convert
from relay.surfaces.telegram.formatting.split import LIMIT, split, tail_start
from relay.surfaces.telegram.formatting.styled import Entity, Span, clip, entities, is_blank, tidy, utf16_offsets
from relay.surfaces.telegram.parsing.message_parser import HEARD

log = structlog.get_logger()
T = TypeVar("T")

FOOTER_LIMIT = 3000
"""UTF-16 code units of the footer."""
_TOOLS_LIMIT = 1000  # of the tools line; both fit one message together
_LONG = 2000  # characters that are formatted in a moment, whatever they are
_COLLAPSED = 300  # characters of what was heard from which on it is shown collapsed
_PREVIEW_END = 3000  # characters in which an unfinished link is looked for
_REMOVED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")  # Telegram drops these, or refuses them
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")
_UNFINISHED_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}$")


@dataclass(frozen=True, slots=True)
class Formatted:
    """One message: its text, and its Bot API entities with offsets and lengths in UTF-16 code units."""

    text: str
    entities: list[Entity]


async def unhurried(work: Callable[..., T], markdown: str, *given: Any) -> T:
    """Runs `work(markdown, *given)`, which formats; for a long text in a thread, where it may take longer and holds
    nobody up. Short or not, what takes too long is shown as plain text."""
    if len(markdown) <= _LONG:
        return work(markdown, *given)
    return await asyncio.to_thread(work, markdown, *given)


def format_reply(markdown: str, *, footer: str = "", tools: str = "") -> list[Formatted]:
    """The messages that show an answer, each at most 4,096 UTF-16 code units and 100 entities. Never raises.

    `tools` (which tools ran: a collapsed quote) and below it `footer` (what memory did: one plain line) stand under
    the answer, in a message of their own if the last has no room. Without any visible text the list is empty.
    """
    parts = split(*_render(markdown))
    below = _below(tools, footer)
    if not is_blank(below[0]):
        parts = _append(parts, *below)
    return [Formatted(text, entities(text, spans)) for text, spans in parts]


def format_preview(markdown: str) -> Formatted:
    """What to show of an answer that is still being written: all of it, or the end that fits. Never raises.

    Half-written Markdown is fine. The text is empty as long as nothing is visible.
    """
    head, end = markdown[:-_PREVIEW_END], markdown[-_PREVIEW_END:]
    text, spans = _render(head + _UNFINISHED_LINK.sub(r"\1", end))
    start = tail_start(text)
    if start:
        spans = [span._replace(start=span.start + 2, end=span.end + 2) for span in clip(text, spans, start, len(text))]
        text = "…\n" + text[start:]
    return Formatted(text, entities(text, spans))


def format_heard(text: str) -> Formatted:
    """What was heard in a recording, as one message: collapsed when it is long, and cut at what a message holds."""
    shown = shortened(f"{HEARD} {_clean(text).strip()}", LIMIT)
    spans = [Span(0, len(shown), "expandable_blockquote")] if len(shown) > _COLLAPSED else []
    return Formatted(shown, entities(shown, spans))


def shortened(text: str, most: int) -> str:
    """A text with at most so many UTF-16 code units; an ellipsis tells that there was more."""
    offsets = utf16_offsets(text)
    return text if offsets[-1] <= most else text[: bisect_right(offsets, most - 2) - 1].rstrip() + " …"


def _below(tools: str, footer: str) -> tuple[str, list[Span]]:
    """What stands under the answer."""
    tools = "\n".join(line.strip() for line in _clean(tools).split("\n") if not is_blank(line))
    tools, footer = shortened(tools, _TOOLS_LIMIT), shortened(" ".join(_clean(footer).split()), FOOTER_LIMIT)
    spans = [Span(0, len(tools), "expandable_blockquote")] if tools else []
    return "\n".join(line for line in (tools, footer) if line), spans


def _append(parts: list[tuple[str, list[Span]]], text: str, spans: list[Span]) -> list[tuple[str, list[Span]]]:
    """Set `text` under the last part if it has room, else behind it."""
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
    """Text without what Telegram refuses, drops or changes (it makes one space of a tab)."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _REMOVED.sub("", _LINE_END.sub("\n", text)).expandtabs(4)


def _render(markdown: str) -> tuple[str, list[Span]]:
    """Plain text and its tidy spans; the Markdown as it is when it cannot be converted or nothing of it would show."""
    source = _clean(markdown)
    try:
        text, spans = convert(source)
        if not is_blank(text):
            return text, tidy(text, spans)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the Rust parser is no Exception
        log.warning("markdown shown as plain text", error=type(error).__name__)
    return ("" if is_blank(source) else source.strip()), []
