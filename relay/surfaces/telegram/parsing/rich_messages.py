"""Reads rich messages: posts of channels and bots, and what people paste with headings, lists or tables. Telegram sends
them as blocks instead of a text, at most 32,768 characters in 16 levels. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.core.text import utf16_offsets

LEVELS = 100
"""How deep to read. Each level of Telegram's is a few here."""
MEDIA = {
    "photo": "photo",
    "video": "video",
    "animation": "animation",
    "audio": "recording",
    "voice_note": "voice note",
    "document": "file",
    "map": "map",
}
"""Blocks with media, which can't be opened."""


def replace_rich_text(message: object) -> object:
    """Returns a message as Telegram sends it, with its rich text, and that of the message it replies to, as plain text
    with links."""
    if not isinstance(message, dict):
        return message
    if target := message.get("reply_to_message"):
        message = {**message, "reply_to_message": replace_rich_text(target)}
    rich = message.get("rich_message")
    if not isinstance(rich, dict) or message.get("text"):
        return message
    read = RichText()
    read.add_blocks(rich.get("blocks"), 0)
    plain = {key: value for key, value in message.items() if key != "rich_message"}
    return {**plain, "text": "".join(read.parts).rstrip("\n"), "entities": read.links}


class RichText:
    """The plain text of blocks, in parts, and the links in it as a message's entities."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.links: list[dict[str, Any]] = []
        self._length = 0

    def add_blocks(self, blocks: object, level: int) -> None:
        """Adds blocks, each on a line of its own."""
        for block in _mappings(blocks):
            if level < LEVELS:
                self._begin_line()
                self._add_block(block, level + 1)

    def _add_block(self, block: Mapping[str, Any], level: int) -> None:
        """Adds a block by its fields rather than by its type, so that no words of a new type are lost."""
        kind = block.get("type")
        if isinstance(kind, str) and kind in MEDIA:
            self._add(f"({MEDIA[kind]})")
        for name in ("summary", "text", "expression"):
            self._add(block.get(name), level)
        for item in _mappings(block.get("items")):
            self._begin_line()
            box = ("[x] " if item.get("is_checked") else "[ ] ") if item.get("has_checkbox") else ""
            label = item.get("label")
            self._add(f"{label} {box}" if isinstance(label, str) and label else box or "- ")
            self._add_within(item.get("blocks"), level)
        self.add_blocks(block.get("blocks"), level)
        rows = block.get("cells")
        for row in rows if isinstance(rows, list) else []:
            self._begin_line()
            for number, cell in enumerate(_mappings(row)):
                self._add(" | " if number else "")
                self._add(cell.get("text"), level)
        for name in ("caption", "credit"):
            if block.get(name):
                self._begin_line()
                self._add(block[name], level)

    def _add_within(self, blocks: object, level: int) -> None:
        """Adds the blocks of a list's item, the first on the item's own line."""
        first, *others = _mappings(blocks) or [{}]
        if level < LEVELS:
            self._add_block(first, level + 1)
        self.add_blocks(others, level)

    def _begin_line(self) -> None:
        if self.parts and not self.parts[-1].endswith("\n"):
            self._add("\n")

    def _add(self, words: object, level: int = 0) -> None:
        """Adds a text: a string, a list of texts, or an object with a text in it."""
        if words and isinstance(words, str):
            self.parts.append(words)
            self._length += utf16_offsets(words)[-1]
        elif level >= LEVELS:
            return
        elif isinstance(words, list):
            for one in words:
                self._add(one, level + 1)
        elif isinstance(words, dict):
            start, begun = self._length, len(self.parts)
            for name in ("text", "alternative_text", "expression", "credit"):
                if given := words.get(name):
                    self._add(" – " if name == "credit" else "")
                    self._add(given, level + 1)
            if words.get("type") == "url":
                ends = "".join(self.parts[begun:])
                length = self._length - start - (len(ends) - len(ends.rstrip("\n")))
                self.links.append({"type": "text_link", "offset": start, "length": length, "url": words.get("url")})


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
