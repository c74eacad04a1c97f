"""Converts the results of commands to JSON: camelCase names, ids as text."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    create_model,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

Id = Annotated[str, BeforeValidator(str)]
"""A number of the database, as text: JavaScript's numbers are exact only up to 53 bits."""


def _read_id(given: object) -> object:
    """Parses an id from JSON, where it is a text. Raises `ValueError`."""
    if not isinstance(given, str) or re.fullmatch(ID, given, re.ASCII) is None:
        raise ValueError("an id must be a string of digits")
    return int(given)


ID = "[1-9][0-9]{0,17}"
GivenId = Annotated[int, BeforeValidator(_read_id), WithJsonSchema({"type": "string", "pattern": f"^{ID}$"})]
"""An id that a client gives, in a path or a body."""
MOST_OFFSET = timedelta(hours=16)
"""PostgreSQL accepts only smaller offsets from UTC."""


def _read_time(given: object) -> object:
    """Refuses anything but a text in the form of ISO 8601: a number could be meant in seconds or milliseconds."""
    if not isinstance(given, str) or re.match(r"\d{4}-", given, re.ASCII) is None:
        raise ValueError("a time must be a string such as 2026-01-31T09:00:00Z")
    return given


def _check_time(time: Time) -> Time:
    """Refuses a time that the database can't read, or that is out of range in some time zones."""
    if not MINYEAR < time.year < MAXYEAR or abs(time.utcoffset() or timedelta()) >= MOST_OFFSET:
        raise ValueError("there's no such time")
    return time


Time = TypeVar("Time", bound=datetime)
GivenTime = Annotated[Time, BeforeValidator(_read_time), AfterValidator(_check_time)]
"""A time that a client gives."""
Flag = Annotated[bool, Field(strict=True)]
"""A boolean in a body; other values are refused."""


def _check_flag(given: object) -> object:
    """Refuses the numbers 1 and 0, which equal true and false in Python."""
    if not isinstance(given, bool):
        raise ValueError("must be a boolean")
    return given


Yes = Annotated[Literal[True], BeforeValidator(_check_flag)]
No = Annotated[Literal[False], BeforeValidator(_check_flag)]
"""A boolean in a body that has only one value."""


def _read_whole(given: object) -> object:
    """Returns 5 for 5.0, which JSON Schema counts as an integer."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


WHOLE = BeforeValidator(_read_whole)
"""For a strict `int` in a body."""


def up_to(length: int) -> Any:
    """Says in the document how long a text can be. The command checks that, after cleaning the text."""
    return Field(json_schema_extra={"maxLength": length})


IDS = ("id", "persona", "promoted_by", "replaced", "replaced_by", "summary")
"""Fields with ids, besides those that end with `_id`."""
LOCAL = ("start_at",)
"""Fields with times without a zone, as in the rules of reminders. They are local to the `zone` field beside them."""
LocalTime = Annotated[
    datetime, WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$"})
]
Number = Annotated[float, BeforeValidator(float)]
"""A decimal, as a JSON number."""


class WireModel(BaseModel):
    """A model of what the API sends."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        from_attributes=True,
        serialize_by_alias=True,
        extra="ignore",
    )
    made_of: ClassVar[type | None] = None
    """The dataclass that it was made from."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describes the fields with their docstrings, unless they have another description."""
        schema = handler(core)
        fields = handler.resolve_ref_schema(schema)["properties"]
        for name, text in _describe(cls):
            fields.get(to_camel(name), {}).setdefault("description", text)
        return schema

    @classmethod
    def of(cls, source: object, **others: object) -> Self:
        """Makes a model of an object: `others` are given, all other fields are read from its attributes."""
        return cls.model_validate(Joined(source, others))


class Joined:
    """An object with other values for some of its attributes."""

    def __init__(self, source: object, others: Mapping[str, object]) -> None:
        self._source = source
        self._others = others

    def __getattr__(self, name: str) -> object:
        return self._others[name] if name in self._others else getattr(self._source, name)


def source(path: str) -> Any:
    """Declares that a field is read from another attribute, or from an attribute of that one: since.messages."""
    return Field(validation_alias=AliasPath(*path.split(".")))


class WireInput(WireModel):
    """A model of what the API receives; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


def _describe(kind: type) -> Iterator[tuple[str, str]]:
    """Yields the names and docstrings of a class's fields, those of the class itself first."""
    for one in kind.__mro__:
        if source := vars(one).get("made_of"):
            yield from _describe(source)
        elif one.__module__.startswith("relay."):
            for (owner, name), text in _read_docstrings(one.__module__).items():
                if owner == one.__name__:
                    yield name, text


@functools.cache
def _read_docstrings(module: str) -> dict[tuple[str, str], str]:
    """Returns the docstrings of fields in a module, by class and field, with names and values as in JSON."""
    return {
        (kind.name, field.target.id): _as_in_json(inspect.cleandoc(said.value.value))
        for kind in ast.parse(inspect.getsource(sys.modules[module])).body
        if isinstance(kind, ast.ClassDef)
        for field, said in itertools.pairwise(kind.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant) and isinstance(said.value.value, str)
    }


def _as_in_json(text: str) -> str:
    """Returns a docstring with the names of fields in camelCase, and null for None."""
    return re.sub("`([a-z]+_[a-z_]+)`", lambda name: f"`{to_camel(name[1])}`", text.replace("None:", "null:"))


@functools.cache
def wire(source: Any) -> type[WireModel]:
    """Returns a model with the fields of a dataclass. A model is returned unchanged."""
    if isinstance(source, type) and issubclass(source, WireModel):
        return source
    hints = get_type_hints(source, include_extras=False)
    fields: dict[str, Any] = {
        field.name: (_type_of(field.name, hints[field.name]), ...) for field in dataclasses.fields(source)
    }
    about = _as_in_json(source.__doc__ or "")
    made: type[WireModel] = create_model(source.__name__, __base__=WireModel, __doc__=about, **fields)
    made.made_of = source
    return made


def wire_of(given: Any) -> Any:
    """Returns the JSON type of any type, such as a union of dataclasses."""
    return _type_of("", given)


def _type_of(name: str, given: Any) -> Any:
    """Returns the JSON type of a field."""
    origin, arguments = get_origin(given), get_args(given)
    if given is int and (name in IDS or name.endswith("_id")):
        return Id
    if given is datetime and name in LOCAL:
        return LocalTime
    if given is Decimal:
        return Number
    if dataclasses.is_dataclass(given) and isinstance(given, type):
        return wire(given)
    if origin is Annotated:
        return _type_of(name, arguments[0])
    if origin in (Union, types.UnionType):
        return functools.reduce(lambda a, b: a | b, (_type_of(name, one) for one in arguments))
    if origin in (tuple, list, Sequence, frozenset, set):
        # All numbers in lists are ids.
        return types.GenericAlias(list, (Id if arguments[0] is int else _type_of(name, arguments[0]),))
    if origin in (dict, Mapping):
        return types.GenericAlias(dict, (arguments[0], _type_of("", arguments[1])))
    return given
