"""HTML as plain text with a little Markdown: headings, lists and tables keep their form."""

from __future__ import annotations

import re
from html import unescape

# fmt: off
BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hr", "main", "nav", "ol", "p", "pre", "section",
    "summary", "table", "title", "tr", "ul",
])
# fmt: on
UNSEEN = frozenset(["script", "style", "template", "noscript", "svg", "math", "iframe", "object"])
RAW = {name: re.compile(f"</{name}(?![^\\s/>])", re.IGNORECASE) for name in ("script", "style")}
"""What ends such an element: no other tag counts in it."""
CELLS = ("td", "th")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


TAG = re.compile(
    r"""<(?P<slash>/?+)(?P<name>[a-z][^\s/>]*+)(?P<more>(?:=\s*+(?:"[^"]*+"|'[^']*+')|[^>])*+)>""", re.IGNORECASE
)
"""Each `+` gives nothing back: what is no tag is seen to be none in one go, however long it is."""
LONG_NUMBER = re.compile(r"&#[0-9]{12,}+;?+")
"""More than a character can have, and than Python would read."""


def plain(html: str) -> str:
    """The text of a page or of a part of one. It is read once from its beginning to its end, in linear time."""
    page = _Page()
    page.feed(LONG_NUMBER.sub("\ufffd", html))
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(page.pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Page:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._unseen = ""
        self._unseen_depth = 0
        self._kept_lines = 0
        self._row_begun = False

    def feed(self, html: str) -> None:
        """Reads a page. What begins like a tag or a comment and has no end is text, or unseen, up to the end."""
        place = 0
        while (begin := html.find("<", place)) >= 0:
            self._data(html[place:begin])
            if tag := TAG.match(html, begin):
                place = tag.end()
                self._tag(tag)
                if self._unseen in RAW:
                    end_tag = RAW[self._unseen].search(html, place)
                    if not end_tag:
                        return
                    place = end_tag.start()
            elif html.startswith(("<!", "<?", "</"), begin):
                end = "-->" if html.startswith("<!--", begin) else ">"
                place = html.find(end, begin)
                if place < 0:
                    return
                place += len(end)
            elif html[begin + 1 : begin + 2].isalpha():
                place = begin
                break
            else:
                self._data("<")
                place = begin + 1
        self._data(html[place:])

    def _tag(self, tag: re.Match[str]) -> None:
        name = tag["name"].lower()
        if self._unseen:
            if name == self._unseen:
                self._unseen_depth += -1 if tag["slash"] else not tag["more"].endswith("/")
            if not self._unseen_depth:
                self._unseen = ""
        elif tag["slash"]:
            self._end(name)
        elif name not in UNSEEN:
            self._start(name)
        elif not tag["more"].endswith("/"):
            self._unseen, self._unseen_depth = name, 1

    def _start(self, tag: str) -> None:
        if tag == "br":
            self.pieces.append("\n")
        elif tag == "li":
            self.pieces.append("\n- ")
        elif tag in CELLS:
            self.pieces.append(" | " if self._row_begun else "")
            self._row_begun = True
        elif tag in HEADINGS:
            self.pieces.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag in BLOCKS:
            self._block(tag)
        self._kept_lines += tag == "pre"

    def _end(self, tag: str) -> None:
        if tag == "tr":
            self._row_begun = False
        elif tag in BLOCKS or tag in HEADINGS:
            self._block(tag)
        if tag == "pre" and self._kept_lines:
            self._kept_lines -= 1

    def _data(self, data: str) -> None:
        if data and not self._unseen:
            data = unescape(data)
            self.pieces.append(data if self._kept_lines else re.sub(r"\s+", " ", data))

    def _block(self, tag: str) -> None:
        """A row or an item of a definition stands on a line of its own, a paragraph between empty ones; paragraphs in a
        table cell do not break its row."""
        if tag == "tr":
            self._row_begun = False
            self.pieces.append("\n")
        elif not self._row_begun or tag == "table":
            self._row_begun = False
            self.pieces.append("\n" if tag in ("dt", "dd", "div") else "\n\n")
        else:
            self.pieces.append(" ")
