"""Directives in the user's text that set the reply, for a stand-in in another process.

((say TEXT))  ((long 20000))  ((think TEXT))  ((search QUERY))  ((tool NAME {"key": "value"}))  ((parallel))
((wait SECONDS)) before the first token  ((slow SECONDS)) spread over the deltas  ((stop REASON))  ((empty))
((fail KIND [TIMES]))
"""

import json
import re
from collections import Counter

from .blocks import Json, plain, text, thinking, tool, web_search
from .faults import Fault
from .record import Recorded
from .replies import Reply

OPENING = re.compile(r"\(\((say|slow|wait|tool|long|think|search|parallel|stop|empty|fail)\b[ \t]*")

Found = list[tuple[str, str, Json]]
"""Directives as (name, words, tool input)."""


def parse(value: str) -> Found:
    """Return all directives in a text, in order. Other text is ignored."""
    found: Found = []
    place = 0
    while match := OPENING.search(value, place):
        place = match.end()
        name, words = match[1], ""
        given: Json = {}
        if name == "tool" and (called := re.compile(r"\s*([\w-]+)\s*").match(value, place)):
            words, place = called[1], called.end()
            if value.startswith("{", place):
                try:
                    given, place = json.JSONDecoder().raw_decode(value, place)
                except ValueError:
                    continue
        end = value.find("))", place)
        if end < 0:
            break
        found.append((name, words or value[place:end].strip(), given))
        place = end + 2
    return found


class Directives:
    """Reads directives, and counts how often a ((fail KIND TIMES)) has failed."""

    def __init__(self) -> None:
        self.failed: Counter[str] = Counter()

    def reply(self, request: Recorded, value: str, rounds: int) -> Reply | None:
        """Return the reply that the user's text requests after this many rounds of tools, or None if it has no
        directive."""
        found = parse(value)
        if not found:
            return None
        reply = Reply()
        self._settings(reply, found, value)
        calls = [tool(words, given) for name, words, given in found if name == "tool"]
        if any(name == "parallel" for name, _, _ in found):
            calls, waves = [], [calls] if calls else []
        else:
            waves = [[call] for call in calls]
        if rounds < len(waves):
            reply.content = [*waves[rounds]]
            return reply
        parts = [block for name, words, _ in found for block in _content(name, words)]
        if not parts and not any(name == "empty" for name, _, _ in found):
            results = plain(request.tool_results)[:500]
            parts = [text(f"The tool said: {results}" if request.tool_results else f"You said: {value}")]
        reply.content = [*parts]
        return reply

    def _settings(self, reply: Reply, found: Found, value: str) -> None:
        for name, words, _ in found:
            if name == "slow":
                reply.spread = float(words or 1)
            elif name == "wait":
                reply.first_delay = float(words or 1)
            elif name == "stop":
                reply.stop_reason = words or None
            elif name == "fail":
                kind, _, times = words.partition(" ")
                self.failed[value] += 1
                if not times or self.failed[value] <= int(times):
                    reply.fault = Fault(kind)


def _content(name: str, words: str) -> list[Json]:
    if name == "say":
        return [text(words)] if words else []
    if name == "long":
        return [text(long_text(int(words or 5000)))]
    if name == "think":
        return [thinking(words or "Let me think.")]
    return web_search(words) if name == "search" else []


def long_text(length: int) -> str:
    """Return Markdown of exactly this many characters: headings, prose, lists, code fences, tables. It is always the
    same."""
    parts: list[str] = []
    size = number = 0
    while size < length:
        number += 1
        part = (
            f"## Section {number}\n\n"
            f"This is paragraph {number} with **bold**, _italic_ and `code`, an umlaut ä and an emoji 🙂.\n\n"
            f"- first of {number}\n- second of {number}\n\n"
            f"```python\ndef section_{number}() -> int:\n    return {number}  # [x] <y> & z\n```\n\n"
            f"| name | value |\n|---|---|\n| row {number} | {number * 7} |\n\n"
        )
        parts.append(part)
        size += len(part)
    return "".join(parts)[:length]
