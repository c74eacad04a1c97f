"""Frozen dataclasses that are quick to define, their form in JSON, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Kind = TypeVar("Kind", bound=type)
PLAIN = (str, int, float, NoneType, dict)
"""The types of values that are JSON already."""


@overload
def frozen(kind: Kind, /, *, slots: bool = True) -> Kind: ...


@overload
def frozen(*, kw_only: bool) -> Callable[[Kind], Kind]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: Any = None, /, *, kw_only: bool = False, slots: bool = True) -> Any:
    """Makes a class a dataclass with slots whose fields are never assigned, which the type checker enforces. Without
    `slots`, it is the same class.

    `dataclass(frozen=True)` compiles six methods for each class, 0.5 ms in all. For Relay's 600 classes that was more
    than half of the processor time of a start. Here `__init__` is compiled when it is first used, and the other methods
    are shared.
    """

    def make(kind: Any) -> Any:
        made: Any = dataclass(slots=slots, kw_only=kw_only, eq=False, repr=False, init=False)(kind)
        made.__init__ = _compile_when_used(made)
        compared = [one.name for one in fields(made) if one.compare]
        made._values = staticmethod(attrgetter(*compared) if compared else _no_values)
        for name, method in SHARED.items():
            if name not in vars(kind):
                setattr(made, name, method)
        return made

    return make if kind is None else make(kind)


def _compile_when_used(kind: Any) -> Callable[..., None]:
    """Returns an `__init__` that replaces itself."""

    def init(self: Any, *args: Any, **more: Any) -> None:
        after = {"__post_init__": None} if hasattr(kind, "__post_init__") else {}
        given = [(one.name, one.type, one) for one in fields(kind)]
        twin: Any = make_dataclass(kind.__name__, given, namespace=after, eq=False, repr=False)
        kind.__init__ = twin.__init__
        kind.__init__(self, *args, **more)

    return init


def _no_values(_one: object) -> tuple[()]:
    return ()


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._values(self) == self._values(other)


def _hash(self: Any) -> int:
    return hash(self._values(self))


def _represent(self: Any) -> str:
    values = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({values})"


SHARED = {"__eq__": _equal, "__hash__": _hash, "__repr__": _represent}


def as_json(value: Any) -> Any:
    """Returns a value as JSON: a dataclass by its own `as_json` or else as its fields, times in ISO 8601."""
    if isinstance(value, PLAIN):
        return value
    if hasattr(value, "as_json"):
        return value.as_json()
    if is_dataclass(value):
        return {one.name: as_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return dict(value) if isinstance(value, Mapping) else [as_json(one) for one in value]


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Returns what reads and writes values of a type. Making it takes up to 9 ms, so not at each start."""
    from pydantic import TypeAdapter  # not every child process needs it

    return TypeAdapter(kind)
