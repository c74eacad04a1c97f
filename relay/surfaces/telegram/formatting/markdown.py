"""Converts Markdown to plain text with spans: corrects the parser's events, then walks over them with the library."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable
from typing import Any

import pyromark
from telegramify_markdown.config import RenderConfig
from telegramify_markdown.converter import STANDARD_OPTIONS, EventWalker

from relay.core.text import utf16_offsets
from relay.surfaces.telegram.formatting.formulas import dollar_formulas
from relay.surfaces.telegram.formatting.html_tags import TAG, TAG_EVENTS, without_tags
from relay.surfaces.telegram.formatting.literal import hide_addresses, hide_bars, hide_dollars, hide_unmeant, reveal
from relay.surfaces.telegram.formatting.styled import KINDS, Span
from relay.surfaces.telegram.formatting.tables import Cell, Event, name_of, payload_of, table_events

_DEEPEST = 20  # levels of lists and quotes; each level indents, so the text grows with the square of the depth
_MOST_CELLS = 20_000  # the parser fills short rows, so that a small text can produce millions
_LONGEST_FORMULA = 2000
_SECONDS = 0.04  # of processor time in the event loop; an answer of 20,000 characters takes 0.03
_SECONDS_BESIDE = 1.0  # in a thread

_BARS = re.compile(r"(\|\|)")
_INLINE = frozenset({"Strong", "Emphasis", "Strikethrough", "Link", "Image"})
_BLOCKS = frozenset({"CodeBlock", "BlockQuote", "Heading", "HtmlBlock", "Table"})
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_URL = re.compile(r"(?:https?://[^\s/?#]|tg:|mailto:.)\S*", re.IGNORECASE)


def convert(source: str) -> tuple[str, list[Span]]:
    r"""Returns the text and untidied spans of Markdown.

    The library's own `convert` drops tags like <T> and links in tables, takes || in code for spoilers and \( in code
    for formulas, and needs exponential time for || over quoted lines. So this corrects the parser's events before
    the library's walker gets them. The parser doesn't see the marks in web addresses and numbers, nor the signs of
    amounts.
    """
    source = hide_unmeant(hide_addresses(source))
    if "$" in source:
        source = hide_dollars(source)
    if "\\(" in source or "\\[" in source:
        source = dollar_formulas(source)
    events = _Adapter(source).adapt(pyromark.events_with_range(source, options=STANDARD_OPTIONS))
    if "||" in source:
        events = _mark_spoilers(events, source.encode())
    text, found, _ = _BoundedWalker(CONFIG, source).walk(tuple(events))
    offsets = utf16_offsets(text)
    index = offsets if isinstance(offsets, range) else {offset: i for i, offset in enumerate(offsets)}
    blank = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1  # lines above the first that is not blank
    spans = []
    for entity in found:
        if entity.type in KINDS:
            start, end = index[entity.offset] - blank, index[entity.offset + entity.length] - blank
            spans.append(Span(max(start, 0), end, entity.type, reveal(entity.url or entity.language or "")))
    return reveal(text[blank:].rstrip()), spans


def _config() -> RenderConfig:
    config = RenderConfig.isolated()
    config.cite_expandable = False  # quotes are part of the answer, so they are not collapsed
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item, symbols.horizontal_rule = "•", "———"
    symbols.task_completed, symbols.task_uncompleted = "☑", "☐"
    return config


CONFIG = _config()


class _BoundedWalker(EventWalker):
    """The library's walker with a time limit. For each block it searches all empty pieces of text that it has written:
    docs/decisions/0017."""

    def walk(self, events: tuple[Event, ...]) -> Any:
        alone = threading.current_thread() is threading.main_thread()
        self._until = time.thread_time() + (_SECONDS if alone else _SECONDS_BESIDE)
        return super().walk(events)

    def _handle_event(self, *given: Any, **named: Any) -> Any:
        if time.thread_time() > self._until:
            raise TooSlow("the Markdown takes too long to convert")
        return super()._handle_event(*given, **named)


class TooSlow(ValueError):
    """Converting this Markdown would take too long; it is shown as plain text."""


class _Adapter:
    """Rewrites the parser's events so that the library's walker shows all of them, and well on a phone."""

    def __init__(self, source: str) -> None:
        self._source = source.encode()
        self._sink: list[Event] = []
        self._links: list[tuple[str, int]] = []  # the address to show ("" for none), and where the label begins
        self._depth = self._lists = self._quotes = self._cells = 0
        self._line_open = False  # whether the walker is behind text, to which it would attach a block
        self._html: list[str] = []
        self._tags: dict[str, list[int]] = {}  # where the block's open formatting tags are in the sink, by name
        self._rows: list[list[Cell]] = []
        self._outside: list[Event] = []

    def adapt(self, events: Iterable[Event]) -> list[Event]:
        for event in events:
            key, value = payload_of(event)
            if key in ("Start", "End") and name_of(value) not in _INLINE:
                self._tags = {}
            if key == "Start":
                self._start(name_of(value), value, event)
            elif key == "End":
                self._end(name_of(value), event)
            elif key == "Html":
                self._html.append(value)
            else:
                self._inline(key, value, event)
        return self._sink

    def _put(self, event: Event, *, open_line: bool = True) -> None:
        self._sink.append(event)
        self._line_open = open_line

    def _break_line(self) -> None:
        """Adds the line breaks around blocks that the walker omits inside lists."""
        if self._lists and self._line_open:
            self._put("SoftBreak", open_line=False)

    def _inline(self, key: str, value: Any, event: Event) -> None:
        if key in ("InlineMath", "DisplayMath"):
            if len(value) > _LONGEST_FORMULA or not value.strip():
                sign = "$" if key == "InlineMath" else "$$"
                event = {"Text": f"{sign}{value}{sign}"}
            elif key == "DisplayMath" and self._line_open:
                self._put("SoftBreak", open_line=False)
        elif key == "InlineHtml":
            event = self._inline_html(value)
        if event is not None:
            self._put(event, open_line=key not in ("SoftBreak", "HardBreak", "TaskListMarker"))

    def _inline_html(self, html: str) -> Event:
        """Returns what to show for a tag; None: nothing. A formatting tag is text until it is closed in its block, so
        that "the <b> element" stays readable."""
        tag = TAG.fullmatch(html.strip())
        if tag and tag[1] is None:
            return None
        name = tag[1].lower() if tag else ""
        if name == "br":
            return "HardBreak"
        if name in TAG_EVENTS:
            if not html.startswith("</"):
                self._tags.setdefault(name, []).append(len(self._sink))
            elif self._tags.get(name):
                self._sink[self._tags[name].pop()], closing = TAG_EVENTS[name]
                return closing
        return {"Text": html}

    def _start(self, name: str, tag: Any, event: Event) -> None:
        if name in ("List", "BlockQuote"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise ValueError("nested too deeply")
        if name in _BLOCKS:
            self._break_line()
        if name == "List":
            self._lists += 1
        elif name == "BlockQuote":
            self._quotes += 1
            event = event if self._quotes == 1 else None
        elif name == "Heading":
            event = ({"Start": {"Heading": {"level": "H3"}}}, event[1])  # the one level that is bold and nothing else
        elif name == "CodeBlock":
            kind = tag["CodeBlock"]
            language = _LANGUAGE.search(kind["Fenced"]) if isinstance(kind, dict) else None
            event = ({"Start": {"CodeBlock": {"Fenced": language[0] if language else ""}}}, event[1])
        elif name == "Strikethrough" and self._single_tilde(event):
            event = {"Text": "~"}
        elif name in ("Link", "Image"):
            self._open_link(name, tag[name]["dest_url"])
            event = None
        elif name == "HtmlBlock":
            self._html, event = [], None
        elif name.startswith("Table"):
            self._start_table(name)
            event = None
        if event is not None:
            self._put(event, open_line=self._line_open and name != "Item")

    def _end(self, name: str, event: Event) -> None:
        if name in ("List", "BlockQuote"):
            self._depth -= 1
        if name == "BlockQuote":
            self._quotes -= 1
            event = event if self._quotes == 0 else None
        elif name == "CodeBlock" and payload_of(self._sink[-1])[0] == "Start":
            self._sink.pop()  # it is empty, and would only take time
            event = None
        elif name == "Strikethrough" and self._single_tilde(event):
            event = {"Text": "~"}
        elif name in ("Link", "Image"):
            self._close_link(name)
            event = None
        elif name == "HtmlBlock":
            self._end_html()
            event = None
        elif name.startswith("Table"):
            self._end_table(name)
            event = None
        if event is not None:
            self._put(event, open_line=name == "CodeBlock" or (self._line_open and name not in ("Paragraph", "Item")))
        if name in _BLOCKS:
            self._break_line()
        if name == "List":
            self._lists -= 1

    def _single_tilde(self, event: Event) -> bool:
        """Tests whether a strikethrough has single tildes, which mean "about" in a chat."""
        begin = event[1]["start"]
        return self._source[begin : begin + 2] != b"~~"

    def _open_link(self, name: str, url: str) -> None:
        """Opens a link; images become links too. Telegram accepts no nested links, and only addresses that it knows."""
        inside = any(shown for shown, _ in self._links)
        shown = url if not inside and len(url) <= 2000 and _URL.fullmatch(url) else ""
        if shown:
            self._put({"Start": {"Link": {"dest_url": shown}}})
        if name == "Image":
            self._put({"Text": "🖼 "})
        self._links.append((shown, len(self._sink)))

    def _close_link(self, name: str) -> None:
        shown, label = self._links.pop()
        if len(self._sink) == label and (shown or name == "Image"):
            self._put({"Text": "image" if name == "Image" else shown})
        if shown:
            self._put({"End": "Link"})

    def _end_html(self) -> None:
        text = without_tags("".join(self._html))
        if text:
            self._put({"Start": "Paragraph"})
            self._put({"Text": text})
            self._put({"End": "Paragraph"}, open_line=False)

    def _start_table(self, name: str) -> None:
        if name == "Table":
            self._rows = []
        elif name == "TableCell":
            self._cells += 1
            if self._cells > _MOST_CELLS:
                raise ValueError("too many table cells")
            self._outside, self._sink = self._sink, []
        else:
            self._rows.append([])

    def _end_table(self, name: str) -> None:
        if name == "TableCell":
            self._rows[-1].append(self._sink)
            self._sink = self._outside
        elif name == "Table":
            for event in table_events(self._rows):
                self._put(event, open_line=event != {"End": "Paragraph"})


def _mark_spoilers(events: list[Event], source: bytes) -> list[Event]:
    """Converts pairs of || in a paragraph to the tags that the walker knows. (`a || b` is not a spoiler.)"""
    marked: list[Event] = []
    opened, code = -1, False
    for event in events:
        key, value = payload_of(event)
        if key in ("Start", "End") and (name := name_of(value)) not in _INLINE:
            opened, code = -1, name == "CodeBlock" and key == "Start"
        if key != "Text" or code or "||" not in value:
            marked.append(event)
            continue
        pieces = _BARS.split(hide_bars(value))  # every second one is ||
        escaped = (
            not pieces[0] and isinstance(event, tuple) and source[event[1]["start"] - 1 : event[1]["start"]] == b"\\"
        )
        for index, piece in enumerate(pieces):
            if index % 2 and not (escaped and index == 1):
                if 0 <= opened < len(marked) - 1 and not pieces[index - 1][-1:].isspace():
                    marked[opened], opened = {"InlineHtml": "<tg-spoiler>"}, -1
                    marked.append({"InlineHtml": "</tg-spoiler>"})
                    continue
                if not pieces[index + 1][:1].isspace():
                    opened = len(marked)
            if piece:
                marked.append({"Text": piece})
    return marked
