"""What an owner has who has used Relay for a while, and the rows that it is stored in."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from pydantic_core import to_json

from tests.integration.long_session import long_session, superuser_sql
from tests.integration.surfaces import OWNER, Installation

TABLES = (
    *("memory", "memory_change", "preference", "preference_decision", "observation", "feedback", "context_setting"),
    *("reminder", "reminder_event", "standing_intent", "keepit", "compression", "compression_keepit", "session_link"),
    *("composition", "composition_part", "composition_use", "session", "space", "thread"),
)
"""What people keep, apart from how it reached Relay."""
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]*(Z|[+-]\d\d(:?\d\d)?)?|\b\d\d:\d\d(:\d\d)?\b|\d{8}T\d{6}Z")
OF_A_RUN = {"turn_id", "search_id"}
"""What names the run: it differs, and so do times."""
WAYS = ("button", "chat", "cli", "command", "http")
"""What names the surface."""
SETTINGS = {"mode": "uniform", "aggressiveness": "light", "method": "extract"}


def live(there: Installation) -> None:
    """Lets an owner use an installation: memories, preferences, reminders, sessions, versions, a composition."""
    asyncio.run(_talk_long(there))
    there.chat(["/new", "I like strong tea.", "I have a parrot called Polly.", "/new Second", "What do I like?"])
    there.chat(["/remind when dentist: take the card"])
    versions, memories = "/api/memory/sessions/1/versions", "/api/memories"
    there.http([
        ("POST", versions, SETTINGS | {"compactionRatio": 30}),
        ("POST", versions, SETTINGS | {"compactionRatio": 10}),
        ("POST", "/api/memory/projects/t1/sessions/1", {}),
        ("POST", "/api/memory/projects/t1/compositions", {
            "name": "Garden", "components": [{"sessionId": "1", "versionId": "v001"}],
        }),
        ("POST", memories, {"text": "Sails a boat"}),
        ("POST", memories, {"text": "Has a cat"}),
        ("POST", "/api/preferences", {"polarity": "prefer", "pattern": "short answers"}),
        ("POST", "/api/preferences", {"polarity": "avoid", "pattern": "emoji"}),
        ("POST", "/api/reminders", {"text": "2030-12-24 18:00 light the tree"}),
    ])  # fmt: skip
    boat, cat = (
        there.sql("select id from memory where content = %s", one)[0][0] for one in ("Sails a boat", "Has a cat")
    )
    there.http([("PATCH", f"{memories}/{boat}", {"text": "Sails a dinghy"}), ("DELETE", f"{memories}/{cat}")])


async def _talk_long(there: Installation) -> None:
    async with superuser_sql(there.superuser_url) as sql:
        await long_session(sql, 60, 12_000, ("1.00", "0.80", "0.25"), OWNER)
        await sql("update thread set chat_id = 0")  # the terminal's; the next one is the chat with a bot
        await long_session(sql, 20, 4_000, ("0.50",), OWNER)


def written(before: Counter[str], after: Counter[str]) -> Any:
    """The rows that are there now, and those that are not there any more."""
    return [[json.loads(row) for row in sorted(rows.elements())] for rows in (after - before, before - after)]


def rows_of(there: Installation) -> Counter[str]:
    """The rows that an installation keeps, each with its table."""
    read = " union all ".join(f"select '{table}', to_jsonb(t) from {table} t" for table in TABLES)  # noqa: S608 - of the list above
    return Counter(json.dumps([table, plain(row)], sort_keys=True) for table, row in there.sql(read))


def result_of(result: Any) -> Any:
    """What a command returned, as JSON, without what differs between two runs."""
    return plain(json.loads(to_json(result, bytes_mode="base64", fallback=lambda one: type(one).__name__)))


def plain(value: Any, apart: Collection[str] = ()) -> Any:
    """A value without times, without what names its run, and without fields that are `apart`."""
    if isinstance(value, dict):
        return {key: plain(one, apart) for key, one in value.items() if key not in apart and not names_run(key, one)}
    if isinstance(value, list):
        return [plain(one, apart) for one in value]
    if isinstance(value, str) and value.startswith("UEsD"):
        with zipfile.ZipFile(io.BytesIO(base64.urlsafe_b64decode(value))) as archive:
            return {name: plain(archive.read(name).decode()) for name in archive.namelist()}
    return TIME.sub("…", value) if isinstance(value, str) else value


def names_run(key: str, value: Any) -> bool:
    """Whether a field says which run, or which surface, made a row."""
    return key in OF_A_RUN or (key in ("origin", "source") and value in WAYS)


def differ(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [line for key in keys for line in differ(one.get(key), other.get(key), f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [line for nr, each in enumerate(one) for line in differ(each, other[nr], f"{where}.{nr}")]
    return [] if one == other else [f"{where}: {one!r} is {other!r}"]


def shows(told: Any, result: Any) -> bool:
    """Whether what a program is told is a result, a part of it, or has it as a part."""
    told, result = bare(told), bare(result)
    return any(within(told, part) for part in parts(result)) or any(within(part, result) for part in parts(told))


def within(told: Any, result: Any) -> bool:
    """Whether a result is told: with all of its fields. There may be more."""
    if isinstance(result, dict):
        return isinstance(told, dict) and all(key in told and within(told[key], one) for key, one in result.items())
    if isinstance(result, list):
        return isinstance(told, list) and len(told) == len(result) and all(map(within, told, result))
    return bool(told == result)


def parts(value: Any) -> Iterator[Any]:
    """An object and all objects and lists in its fields."""
    if isinstance(value, dict | list) and value:
        yield value
    if isinstance(value, dict):
        for one in value.values():
            yield from parts(one)


def bare(value: Any) -> Any:
    """A value with the names and types that all surfaces share: over HTTP names are in camelCase, and ids are texts."""
    if isinstance(value, dict):
        return {re.sub(r"([A-Z])", r"_\1", key).lower(): bare(one) for key, one in value.items()}
    if isinstance(value, list):
        return [bare(one) for one in value]
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        return float(value)
    return value
