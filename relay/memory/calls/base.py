"""The base of all subjects: the database, this process's name, and text that PostgreSQL can store."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from relay.core.errors import SchemaError
from relay.core.ports import Database

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL can't store: NUL and lone surrogates, which JSON can carry."""
SUSPECT = re.compile(r"\\u0000|[\ud800-\udfff]")
"""The same in encoded JSON, which is much faster to search than every text."""
Row = TypeVar("Row")


class Calls:
    """A database connection under this process's name."""

    def __init__(self, database: Database, worker: str) -> None:
        self._database = database
        self._worker = worker

    async def _call(self, function: str, **arguments: Any) -> Any:
        if not _is_storable(arguments):
            arguments = storable(arguments)
        return await self._database.call(function, **arguments)

    async def _fetch(self, row: type[Row], function: str, **arguments: Any) -> Row:
        """Calls a function that returns one row. Raises `SchemaError` if the result does not fit the type."""
        return decode_row(row, await self._call(function, **arguments))

    async def _find(self, row: type[Row], function: str, **arguments: Any) -> Row | None:
        """Calls a function that returns one row; None if it returns null."""
        found = await self._call(function, **arguments)
        return None if found is None else decode_row(row, found)

    async def _list(self, row: type[Row], function: str, **arguments: Any) -> list[Row]:
        """Calls a function that returns an array of rows; an empty list if it returns null."""
        return decode_row(list[row], await self._call(function, **arguments) or [])  # type: ignore[valid-type]


@functools.cache
def _adapter(row: Any) -> TypeAdapter[Any]:
    return TypeAdapter(row)


def decode_row(row: type[Row], value: Any) -> Row:
    """Decodes a row: ISO 8601 texts become datetimes, arrays tuples; ignores unknown keys. Raises `SchemaError` if it
    does not fit."""
    try:
        return _adapter(row).validate_python(value)  # type: ignore[no-any-return, arg-type]
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        raise SchemaError(f"The database returned a {row.__name__} that this version cannot read ({where}).") from None


def encode_row(row: type[Row], value: Row) -> Any:
    """Encodes a row as JSON values for `decode_row`."""
    return _adapter(row).dump_python(value, mode="json")  # type: ignore[arg-type]


def _is_storable(value: Any) -> bool:
    """Returns False if a text has such a character, or may have one."""
    try:
        return b"\\u0000" not in to_json(value)
    except PydanticSerializationError:  # a lone surrogate, or more than 255 levels
        return not SUSPECT.search(json.dumps(value, ensure_ascii=False))


def storable(value: Any) -> Any:
    """Returns a JSON value whose texts have no characters that PostgreSQL can't store."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
