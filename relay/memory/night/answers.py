"""Extracts requested JSON from a model's text. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from relay.core.errors import EmptyAnswer, ModelRefused
from relay.core.models import Step

AnswerRow = Mapping[str, Any]
"""One object of the requested list."""


class AnswerUnclear(EmptyAnswer):
    """The model's answer doesn't have the requested form."""


def list_of(step: Step) -> list[AnswerRow]:
    """Returns the list of objects in a step, ignoring text around it. Raises `ModelRefused` for a refusal, and
    `AnswerUnclear` if there is no such list."""
    if step.stop_reason == "refusal":
        raise ModelRefused()
    text = "".join(block.get("text", "") for block in step.blocks)
    begin, end = text.find("["), text.rfind("]")
    try:
        found = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        raise AnswerUnclear() from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise AnswerUnclear()
    return found
