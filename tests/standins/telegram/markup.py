"""``parse_mode``: converts HTML, MarkdownV2 and Markdown to entities, roughly as the server does."""

from __future__ import annotations

import html
import re

from tests.standins.telegram.values import ApiError, Json, bad_request

_HTML_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}
_MARKS = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler"}
_LEGACY_MARKS = {"*": "bold", "_": "italic"}
_RESERVED = set("_*[]()~`>#+-=|{}.!")


def parse_markup(text: str, mode: str) -> tuple[str, list[Json]]:
    """The plain text and its entities. Refuses with 400 if the markup is invalid."""
    kind = mode.lower()
    if kind == "html":
        plain, entities = _parse_html(text)
    elif kind in ("markdown", "markdownv2"):
        plain, entities = _parse_markdown(text, legacy=kind == "markdown")
    else:
        raise bad_request("unsupported parse_mode")
    return plain, sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def _refuse(why: str) -> ApiError:
    return bad_request(f"can't parse entities: {why}")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _parse_html(text: str) -> tuple[str, list[Json]]:
    plain, entities = "", []
    open_tags: list[tuple[str, int, str]] = []
    for piece in re.split(r"(<[^>]*>?)", text):
        if not piece.startswith("<"):
            plain += html.unescape(piece)
            continue
        match = re.fullmatch(r"<(/?)([a-zA-Z][\w-]*)([^>]*)>", piece)
        name = match.group(2).lower() if match else piece[1:8]
        if not match or name not in _HTML_TAGS:
            raise _refuse(f'Unsupported start tag "{name}" at byte offset {len(plain.encode())}')
        if not match.group(1):
            open_tags.append((name, _units(plain), match.group(3)))
            continue
        if not open_tags or open_tags[-1][0] != name:
            raise _refuse(f"Unexpected end tag at byte offset {len(plain.encode())}")
        _, start, attributes = open_tags.pop()
        entity: Json = {"type": _HTML_TAGS[name], "offset": start, "length": _units(plain) - start}
        if name == "a":
            link = re.search(r"""href=["']?([^"'\s>]+)""", attributes)
            entity["url"] = html.unescape(link.group(1)) if link else ""
        if entity["length"]:
            entities.append(entity)
    if open_tags:
        raise _refuse(f'Can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
    return plain, entities


def _parse_markdown(text: str, *, legacy: bool) -> tuple[str, list[Json]]:
    plain, entities = "", []
    marks = _LEGACY_MARKS if legacy else _MARKS
    open_marks: list[tuple[str, int]] = []
    position = 0
    while position < len(text):
        rest = text[position:]
        if rest[0] == "\\" and len(rest) > 1 and ord(rest[1]) < 127:
            plain, position = plain + rest[1], position + 2
        elif rest[0] == "`":
            code, kind, position = _code(text, position)
            entities.append({"type": kind, "offset": _units(plain), "length": _units(code)})
            plain += code
        elif link := re.match(r"!?\[((?:\\.|[^\]\\])*)\]\(((?:\\.|[^)\\])*)\)", rest):
            label, inner = _parse_markdown(link.group(1), legacy=legacy)
            start = _units(plain)
            entities += [{**entity, "offset": entity["offset"] + start} for entity in inner]
            entities.append({"type": "text_link", "offset": start, "length": _units(label), "url": link.group(2)})
            plain, position = plain + label, position + link.end()
        elif mark := next(
            (mark for mark in ("||", "__", "*", "_", "~") if mark in marks and rest.startswith(mark)), None
        ):
            if open_marks and open_marks[-1][0] == mark:
                start = open_marks.pop()[1]
                entities.append({"type": marks[mark], "offset": start, "length": _units(plain) - start})
            else:
                open_marks.append((mark, _units(plain)))
            position += len(mark)
        elif not legacy and rest[0] == ">" and (not plain or plain.endswith("\n")):
            position += 1
        elif not legacy and rest[0] in _RESERVED:
            raise _refuse(f"Character '{rest[0]}' is reserved and must be escaped with the preceding '\\'")
        else:
            plain, position = plain + rest[0], position + 1
    if open_marks:
        raise _refuse(f"Can't find end of the entity starting at byte offset {open_marks[-1][1]}")
    return plain, [entity for entity in entities if entity["length"]]


def _code(text: str, position: int) -> tuple[str, str, int]:
    """The content of the code span or block that starts here, its type, and where it ends."""
    fence = "```" if text.startswith("```", position) else "`"
    end = text.find(fence, position + len(fence))
    if end < 0:
        raise _refuse(f"Can't find end of the entity starting at byte offset {position}")
    content = text[position + len(fence) : end]
    if fence == "```":
        content = re.sub(r"^[\w+-]*\n", "", content)
    return re.sub(r"\\([\\`])", r"\1", content), "pre" if fence == "```" else "code", end + len(fence)
