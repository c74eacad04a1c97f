"""Text and entities: lengths in UTF-16 units, detection, checks."""

from __future__ import annotations

import re
from typing import Any

from tests.standins.telegram.markup import parse_markup
from tests.standins.telegram.values import Json, bad_request

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_ENTITIES = 100

_DETECT = re.compile(
    r"(?P<url>\bhttps?://[^\s<>]+)"
    r"|(?<![\w/@])(?P<bot_command>/[A-Za-z0-9_]{1,64}(?:@[A-Za-z][A-Za-z0-9_]{2,31})?)(?![\w/])"
    r"|(?<![\w@/])(?P<mention>@[A-Za-z][A-Za-z0-9_]{2,31})(?!\w)"
)


def utf16_length(text: str) -> int:
    """The length of the text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def detect_entities(text: str) -> list[Json]:
    """The commands, mentions and links that Telegram detects."""
    if "/" not in text and "@" not in text:
        return []
    return [
        {"type": match.lastgroup, "offset": utf16_length(text[: match.start()]), "length": utf16_length(match.group())}
        for match in _DETECT.finditer(text)
    ]


def check_entities(text: str, entities: Any) -> list[Json]:
    """The entities as the server stores them. Refuses those outside the text or with a bad overlap."""
    if not isinstance(entities, list):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    units = text.encode("utf-16-le")
    total = len(units) // 2
    for entity in entities:
        try:
            start, length = int(entity["offset"]), int(entity["length"])
        except (KeyError, TypeError, ValueError):
            raise bad_request("can't parse entities: can't parse MessageEntity") from None
        if start < 0 or length <= 0 or start + length > total:
            raise bad_request("ENTITY_BOUNDS_INVALID")
        if _splits_pair(units, start) or _splits_pair(units, start + length):
            raise bad_request("ENTITY_BOUNDS_INVALID")
    ordered = sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))
    _check_nesting(ordered)
    return ordered[:MAX_ENTITIES]


def _splits_pair(units: bytes, position: int) -> bool:
    """Whether the position is inside a surrogate pair."""
    low = units[2 * position : 2 * position + 2]
    return len(low) == 2 and 0xDC <= low[1] <= 0xDF


def _check_nesting(ordered: list[Json]) -> None:
    """Refuse an entity that starts inside another and ends outside it."""
    ends: list[int] = []
    for entity in ordered:
        start, end = entity["offset"], entity["offset"] + entity["length"]
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and end > ends[-1]:
            raise bad_request("ENTITY_BOUNDS_INVALID")
        ends.append(end)


def _trim(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Strip white space from both ends, as the server does, and move the entities along."""
    stripped = text.strip()
    if stripped == text:
        return text, entities
    shift = utf16_length(text[: len(text) - len(text.lstrip())])
    total = utf16_length(stripped)
    kept = []
    for entity in entities:
        start = max(entity["offset"] - shift, 0)
        end = min(entity["offset"] + entity["length"] - shift, total)
        if end > start:
            kept.append({**entity, "offset": start, "length": end - start})
    return stripped, kept


def formatted(params: Json, text_key: str, entities_key: str, limit: int) -> tuple[str, list[Json]]:
    """Text and entities of a request after parsing, checks and automatic detection."""
    text = str(params.get(text_key) or "")
    if params.get("parse_mode"):
        text, entities = parse_markup(text, str(params["parse_mode"]))
    else:
        entities = check_entities(text, params.get(entities_key) or [])
    text, entities = _trim(text, entities)
    if utf16_length(text) > limit:
        raise bad_request("message is too long" if text_key == "text" else "message caption is too long")
    taken = [(entity["offset"], entity["offset"] + entity["length"]) for entity in entities]
    found = [
        entity
        for entity in detect_entities(text)
        if not any(start < entity["offset"] + entity["length"] and entity["offset"] < end for start, end in taken)
    ]
    if found:
        entities = sorted(entities + found, key=lambda entity: (entity["offset"], -entity["length"]))
    return text, entities
