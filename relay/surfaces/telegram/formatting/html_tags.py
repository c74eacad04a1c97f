"""The HTML tags that answers may have: which format, and which are text. Pure."""

from __future__ import annotations

import re

from relay.surfaces.telegram.formatting.tables import Event

TAG = re.compile(r"<!--(?:(?!<!--).)*?-->|</?([a-zA-Z][\w-]*+)[^<>]*+>", re.DOTALL)
_FORMATTING_TAGS = {"b": "Strong", "strong": "Strong", "i": "Emphasis", "em": "Emphasis", "s": "Strikethrough"}
_QUIET_TAGS = {"u", "ins", "del", "sub", "sup", "kbd", "mark", "small"}  # Relay shows only what is between them
_SILENT_TAGS = {*_FORMATTING_TAGS, *_QUIET_TAGS, "br", "p", "div", "center", "details", "summary"}
_MENTIONED = re.compile(r"[^\S\n]++[^\s<]|[^\w\s<]")  # what follows in "<div> is …" and "<div>: …"
TAG_EVENTS: dict[str, tuple[Event, Event]] = {
    **dict.fromkeys(_QUIET_TAGS, ({"InlineHtml": ""}, {"InlineHtml": ""})),  # which the walker ignores
    **{name: ({"Start": kind}, {"End": kind}) for name, kind in _FORMATTING_TAGS.items()},
    "tg-spoiler": ({"InlineHtml": "<tg-spoiler>"}, {"InlineHtml": "</tg-spoiler>"}),
}


def without_tags(html: str) -> str:
    """Returns the text of an HTML block, without comments and the tags that format it. Other tags are words in angle
    brackets, as in `Vec<T>`; so are tags without a partner that the text around them is about."""
    found = [tag for tag in TAG.finditer(html) if tag[1]]
    opened = {tag[1].lower() for tag in found if not tag[0].startswith("</")}
    closed = {tag[1].lower() for tag in found if tag[0].startswith("</")}
    paired = {"br", *(opened & closed)}

    def shown(tag: re.Match[str]) -> str:
        if tag[1] is None:
            return ""
        name = tag[1].lower()
        formats = name in _SILENT_TAGS and (name in paired or not _MENTIONED.match(html, tag.end()))
        return "" if formats else tag[0]

    return TAG.sub(shown, html).strip()
