"""Reads what a model answered in a requested form: the input of a tool, or JSON in its text."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, StrictInt, TypeAdapter, ValidationError

from relay.core.errors import EmptyAnswer, ModelRefused
from relay.core.models import Step, ToolDefinition
from relay.memory.calls.base import Row, storable

Number = Annotated[StrictInt | None, BeforeValidator(lambda value: value if type(value) is int else None)]
"""A field with a whole number; None for any other value."""
Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""A field with a text; empty for any other value."""
Words = Annotated[str, BeforeValidator(lambda value: str(value or ""))]
"""A field with any value as a text."""
CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Why a model stops that wrote as much as it may."""


class InvalidAnswer(EmptyAnswer):
    """The model's answer doesn't have the requested form."""

    PLAIN = "The model's answer doesn't have the requested form."

    def __init__(self, why: str) -> None:
        super().__init__(f"{self.PLAIN.rstrip('.')}: {why}.")


def read_rows(
    step: Step, row: type[Row], tool: ToolDefinition | None = None, *, skip: bool = False, cut: bool = False
) -> list[Row]:
    """Returns the rows that a model gave to a tool made by `list_tool`, or wrote as a list. Ignores unknown fields.
    `skip`: leaves out rows that don't fit, unless none does. `cut`: the answer may be cut off. Raises `ModelRefused`
    for a refusal, and `InvalidAnswer`."""
    name = tool["input_schema"]["required"][0] if tool else ""
    found = (one.get(name) if isinstance(one, dict) else one for one in _answers(step, tool, cut))
    listed = next((one for one in found if isinstance(one, list)), None)
    if listed is None:
        raise InvalidAnswer("it holds no list")
    return _decode(row, listed, skip)


def read_input(step: Step, row: type[Row], tool: ToolDefinition) -> Row:
    """Returns a tool's input. Raises as `read_rows` does."""
    return _decode(row, [next(_answers(step, tool), None)])[0]


def _answers(step: Step, tool: ToolDefinition | None, cut: bool = False) -> Iterator[Any]:
    """Yields what may be the answer: the tool's input, then the object and the list in the text. Servers without forced
    tools write these, also in a code fence or among words."""
    if step.stop_reason == "refusal":
        raise ModelRefused()
    if step.stop_reason in CUT_OFF and not cut:
        raise InvalidAnswer("it was cut off")
    for block in step.blocks:
        if tool and block.get("type") == "tool_use" and block.get("name") == tool["name"]:
            yield storable(block.get("input"))
    text = "".join(str(block.get("text") or "") for block in step.blocks if block.get("type") == "text")
    for opening, closing in ("{}", "[]"):
        with contextlib.suppress(ValueError, RecursionError):
            yield storable(json.loads(text[text.find(opening) : text.rfind(closing) + 1]))


def _decode(row: type[Row], listed: Iterable[Any], skip: bool = False) -> list[Row]:
    adapter = _adapter(row)  # type: ignore[arg-type]
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


@functools.cache
def _adapter(row: Any) -> TypeAdapter[Any]:
    return TypeAdapter(row)
