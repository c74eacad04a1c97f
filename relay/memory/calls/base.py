"""What all subjects share: the database, this process's name, and texts that Postgres can hold."""

from __future__ import annotations

import json
import re
from typing import Any

from relay.core.ports import Database

Json = dict[str, Any]
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What no Postgres text can hold: NUL, and halves of a character that JSON can carry."""
SUSPECT = re.compile(r"\\u0000|[\ud800-\udfff]")
"""The same in JSON: found far sooner than by looking at every text."""


class Calls:
    """The database behind one process's name."""

    def __init__(self, database: Database, worker: str) -> None:
        self._database = database
        self._worker = worker

    async def _call(self, function: str, **arguments: Any) -> Any:
        if SUSPECT.search(json.dumps(arguments, ensure_ascii=False)):
            arguments = storable(arguments)
        return await self._database.call(function, **arguments)


def storable(value: Any) -> Any:
    """A JSON value whose texts Postgres can hold: what it cannot becomes the replacement character."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
