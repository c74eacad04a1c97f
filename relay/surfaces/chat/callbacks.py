"""Buttons as typed values. Button data stays in chats for years, so codes and formats never change.

A button's data is its code and its fields, separated by colons: `VoiceChosen(7, "auto")` is `vv:7:auto`.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from typing import Any, ClassVar, dataclass_transform, get_args, get_origin, get_type_hints

from relay.core.frozen import frozen
from relay.core.text import parse_number

MAX_BYTES = 64
"""Telegram's limit for a button's data."""


@dataclass_transform(frozen_default=True)
class Callback:
    """A button's action and its arguments. Each subclass names its code: `class VoiceChosen(Callback, code="vv")`.
    Without a code, it is a base of others. Raises `ValueError` if the code is taken.

    Fields may be `int` (not negative), `bool` (as 0 and 1), `str` (without a colon), a `Literal` of texts or numbers,
    or a class with `encode() -> str` and the class method `decode(text) -> Self | None`. Trailing fields with a
    default may be missing, as in the data of earlier versions.
    """

    code: ClassVar[str]

    def __init_subclass__(cls, code: str = "") -> None:
        frozen(cls, slots=False)
        if code in CALLBACKS:
            raise ValueError(f"two buttons have the code {code}")
        if code:
            cls.code = code
            CALLBACKS[code] = cls


CALLBACKS: dict[str, type[Callback]] = {}


class AboutTurn(Callback):
    turn_id: int


class AboutDraft(Callback):
    draft_id: int


class AboutSpace(Callback):
    space_id: int


def encode(one: Callback) -> str:
    """Returns a button's data. Raises `ValueError` if it is longer than 64 bytes."""
    data = ":".join([one.code, *(_encode(getattr(one, name)) for name in _types(one.code))])
    if len(data.encode()) > MAX_BYTES:
        raise ValueError(f"a button's data has more than {MAX_BYTES} bytes: {data}")
    return data


def decode(data: str) -> Callback | None:
    """Returns the callback in a button's data; None if this version has no such button."""
    code, *parts = data.split(":")
    kind = CALLBACKS.get(code)
    if kind is None:
        return None
    types = _types(code)
    needed = sum(field.default is MISSING for field in fields(kind))  # type: ignore[arg-type]
    if not needed <= len(parts) <= len(types):
        return None
    values = {name: _decode(types[name], part) for name, part in zip(types, parts, strict=False)}
    return None if None in values.values() else kind(**values)


@cache
def _types(code: str) -> dict[str, Any]:
    """Returns the fields of a callback class in order, with their types."""
    kind: Any = CALLBACKS[code]
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _encode(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value) if isinstance(value, int | str) else str(value.encode())


def _decode(kind: Any, text: str) -> Any:
    """Parses one part of the data as its field's type; None if it does not fit."""
    if get_args(kind) and get_origin(kind) is not None:
        return next((choice for choice in get_args(kind) if str(choice) == text), None)
    if kind is bool:
        return {"0": False, "1": True}.get(text)
    if kind is int:
        return parse_number(text)
    return text if kind is str else kind.decode(text)
