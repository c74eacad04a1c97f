"""Converts HTML to Markdown, keeping headings, lists, tables and code."""

import re
from html import unescape

import html_to_markdown

OPTIONS = html_to_markdown.ConversionOptions(
    bullets="-",
    compact_tables=True,
    extract_metadata=False,
    skip_images=True,
    strip_tags=["a"],  # an address is often longer than its link text
)
TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,500})", re.IGNORECASE)


def to_markdown(html: str) -> str:
    """Returns a page, or part of one, as Markdown under its title. Leaves out scripts, styles and hidden elements."""
    titled = TITLE.search(html)
    title = " ".join(unescape(titled[1]).split()) if titled else ""
    page = html_to_markdown.convert(html.replace("\0", ""), OPTIONS)
    return "\n\n".join(part for part in (title, (page.content or "").strip()) if part)
