"""HTML as plain text with a little Markdown: headings, lists and tables keep their form."""

from __future__ import annotations

import re
from html.parser import HTMLParser

# fmt: off
BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hr", "main", "nav", "ol", "p", "pre", "section",
    "summary", "table", "title", "tr", "ul",
])
# fmt: on
UNSEEN = frozenset(["script", "style", "template", "noscript", "svg", "math", "iframe", "object"])
CELLS = ("td", "th")


def plain(html: str) -> str:
    """The text of a page or of a part of one."""
    page = _Page()
    page.feed(html)
    page.close()
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(page.pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen: list[str] = []
        self._kept_lines = 0
        self._row_begun = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self._unseen.append(tag)
        elif tag == "br":
            self.pieces.append("\n")
        elif tag == "li":
            self.pieces.append("\n- ")
        elif tag in CELLS:
            self.pieces.append(" | " if self._row_begun else "")
            self._row_begun = True
        elif re.fullmatch(r"h[1-6]", tag):
            self.pieces.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag in BLOCKS:
            self._block(tag)
        self._kept_lines += tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag == "tr":
            self._row_begun = False
        elif tag in BLOCKS or re.fullmatch(r"h[1-6]", tag):
            self._block(tag)
        if tag == "pre" and self._kept_lines:
            self._kept_lines -= 1

    def handle_data(self, data: str) -> None:
        if not self._unseen:
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
