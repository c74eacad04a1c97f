"""Reads what a model answered in a requested form: the input of a tool, or JSON in its text."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, StrictInt, ValidationError

from relay.core.errors import EmptyAnswer, ModelRefused
from relay.core.frozen import adapter_of
from relay.core.models import Step, ToolDefinition
from relay.memory.calls.base import Row, storable

Number = Annotated[StrictInt | None, BeforeValidator(lambda value: value if type(value) is int else None)]
"""A field with a whole number; None for any other value."""
Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""A field with a text; empty for any other value."""
Words = Annotated[str, BeforeValidator(lambda value: str(value or ""))]
"""A field with any value as a text."""
CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""The stop reasons of an answer that was cut off."""


class InvalidAnswer(EmptyAnswer):
    """The model's answer doesn't have the requested form."""

    PLAIN = "The model's answer doesn't have the requested form."

    def __init__(self, why: str) -> None:
        super().__init__(f"{self.PLAIN.rstrip('.')}: {why}.")


def read_rows(
    step: Step,
    row: type[Row],
    tool: ToolDefinition | None = None,
    *,
    most: int | None = None,
    skip: bool = False,
    cut: bool = False,
) -> list[Row]:
    """Returns the rows that a model gave to a tool made by `list_tool`; without a tool, of the list that it wrote.
    Ignores unknown fields. `most`: how many rows are read. `skip`: leaves out rows that don't fit, unless none does.
    `cut`: the answer may be cut off. Raises `ModelRefused` for a refusal, and `InvalidAnswer`."""
    found = _find(step, tool, cut)
    if tool and isinstance(found, dict):
        found = found.get(tool["input_schema"]["required"][0])
    if not isinstance(found, list):
        raise InvalidAnswer("it holds no list")
    return _decode(row, found[:most], skip)


def read_input(step: Step, row: type[Row], tool: ToolDefinition) -> Row:
    """Returns a tool's input. Raises as `read_rows` does."""
    return _decode(row, [_find(step, tool)])[0]


def _find(step: Step, tool: ToolDefinition | None, cut: bool = False) -> Any:
    """Returns the input of a tool, or else the object in the text: servers without forced tools write one, also in a
    code fence or among words. Without a tool, returns the list in the text. None: there is none."""
    if step.stop_reason == "refusal":
        raise ModelRefused()
    if step.stop_reason in CUT_OFF and not cut:
        raise InvalidAnswer("it was cut off")
    for block in step.blocks:
        if tool and block.get("type") == "tool_use" and block.get("name") == tool["name"]:
            return storable(block.get("input"))
    text = "".join(str(block.get("text") or "") for block in step.blocks if block.get("type") == "text")
    opening, closing = "{}" if tool else "[]"
    with contextlib.suppress(ValueError, RecursionError):
        return storable(json.loads(text[text.find(opening) : text.rfind(closing) + 1]))
    return None


def _decode(row: type[Row], listed: Iterable[Any], skip: bool = False) -> list[Row]:
    adapter = adapter_of(row)  # type: ignore[arg-type]  # a class is hashable
    rows: list[Row] = []
    wrong: ValidationError | None = None
    for one in listed:
        try:
            rows.append(adapter.validate_python(one))
        except ValidationError as error:
            wrong = error
            if not skip:
                break
    if wrong is None or (skip and rows):
        return rows
    first = wrong.errors(include_input=False, include_url=False, include_context=False)[0]
    raise InvalidAnswer(" ".join([*map(str, first["loc"]), first["msg"]]))
