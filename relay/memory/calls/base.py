"""The base of all subjects: the database, this process's name, and text that PostgreSQL can store."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Coroutine
from types import NoneType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from relay.core.errors import SchemaError
from relay.core.frozen import PLAIN, adapter_of, as_json
from relay.core.ports import Database

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL can't store: NUL and lone surrogates, which JSON can carry."""
SUSPECT = re.compile(r"\\u0000|[\ud800-\udfff]")
"""The same in encoded JSON, which is much faster to search than every text."""
Row = TypeVar("Row")
P = ParamSpec("P")
Result = TypeVar("Result")
Method = Callable[P, Coroutine[Any, Any, Result]]
HELD = {"job": "id", "turn": "turn_id"}
"""The parameters that are sent as an id and a fence, each with the field of the id."""
WORKER = object()
"""Stands for this process's name among the fixed arguments of a function."""


class Calls:
    """A database connection under this process's name."""

    def __init__(self, database: Database, worker: str, result_cache: int = 1_000) -> None:
        """`result_cache`: how many results of derivations to keep for each space; the least recently used go first."""
        self._database = database
        self._worker = worker
        self.result_cache = result_cache

    async def _call(self, function: str, **arguments: Any) -> Any:
        if not _is_storable(arguments):
            arguments = storable(arguments)
        return await self._database.call(function, **arguments)

    async def _fetch(self, row: type[Row], function: str, **arguments: Any) -> Row:
        """Calls a function that returns one row. Raises `SchemaError` if the result does not fit the type."""
        return decode_row(row, await self._call(function, **arguments))

    async def _list(self, row: type[Row], function: str, **arguments: Any) -> list[Row]:
        """Calls a function that returns an array of rows; an empty list if it returns null."""
        return decode_row(list[row], await self._call(function, **arguments) or [])  # type: ignore[valid-type]


def rpc(function: str = "", **fixed: object) -> Callable[[Method[P, Result]], Method[P, Result]]:
    """Declares a method that calls the SQL function of its name (or `function`) with its arguments, and with `fixed`
    ones. `job` and `turn` are sent as their id and fence, `thread` as its fields, other objects as `as_json` says. The
    result is decoded as the return type; where that is not a row and has no None, null is False, 0, "" or an empty
    list."""

    def declare(method: Method[P, Result]) -> Method[P, Result]:
        name = function or method.__name__
        code: Any = method.__code__
        defaults: Any = method.__defaults__ or ()
        parameters = code.co_varnames[: code.co_argcount]
        usual = fixed | dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True))
        held = [one for one in HELD if one in parameters]
        own = [key for key, value in fixed.items() if value is WORKER]

        @functools.wraps(method)
        async def call(*args: P.args, **more: P.kwargs) -> Result:
            given: dict[str, Any] = {**usual, **dict(zip(parameters, args, strict=False)), **more}
            calls = given.pop("self")
            if "thread" in given:
                given |= as_json(given.pop("thread"))
            for one in held:
                holding = given.pop(one)
                given |= {f"{one}_id": getattr(holding, HELD[one]), "fence": holding.fence}
            for key in own:
                given[key] = calls._worker
            sent = {key: value if isinstance(value, PLAIN) else as_json(value) for key, value in given.items()}
            return _decoder(method)(await calls._call(name, **sent))  # type: ignore[no-any-return]

        return call

    return declare


@functools.cache
def _decoder(method: Any) -> Callable[[Any], Any]:
    """Returns what decodes the result of a method: see `rpc`."""
    kind = get_type_hints(method, include_extras=True)["return"]
    if kind is NoneType:
        return lambda found: None
    if kind in (bool, int, str):
        return lambda found: kind(found or kind())
    if NoneType in get_args(kind):
        (row,) = (one for one in get_args(kind) if one is not NoneType)
        return lambda found: None if found is None else decode_row(row, found)
    if get_origin(kind) is list:
        return lambda found: decode_row(kind, found or [])
    return lambda found: decode_row(kind, found)


def decode_row(row: type[Row], value: Any) -> Row:
    """Decodes a row: ISO 8601 texts become datetimes, arrays tuples; ignores unknown keys. Raises `SchemaError` if it
    does not fit."""
    try:
        return adapter_of(row).validate_python(value)  # type: ignore[no-any-return, arg-type]
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        name = getattr(row, "__name__", row)
        raise SchemaError(f"The database returned a {name} that this version cannot read ({where}).") from None


def encode_row(row: type[Row], value: Row) -> Any:
    """Encodes a row as JSON values for `decode_row`."""
    return adapter_of(row).dump_python(value, mode="json")  # type: ignore[arg-type]


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
