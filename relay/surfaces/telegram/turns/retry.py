"""Finds the model that `/retry` names. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from relay.commands.context import Services
from relay.core.text import escape_markdown
from relay.surfaces.telegram.turns.understand import ParsedTurn

FULL_NAME = re.compile(r"claude-[a-z0-9][a-z0-9.@:_-]{0,99}")

UNPRICED = (
    "I don't know what {} costs, so I can't keep to the budget with it. You can add its price to the file named in "
    "RELAY\\_PRICES."
)


def with_model(understood: ParsedTurn, services: Services, admin: bool) -> ParsedTurn:
    """Returns the input with the model that /retry names, or a notice that lists the choices."""
    big, small = services.installation.model, services.installation.small_model
    model = find_model(understood.wanted, big, small, admin)
    if model is None or understood.incoming is None:
        return ParsedTurn(understood.place, notice=choices(big, small, admin))
    if services.budget.refuses(model):
        notice = UNPRICED if admin else "I can't use that model here."
        return ParsedTurn(understood.place, notice=notice.format(escape_markdown(model)))
    return replace(understood, incoming=replace(understood.incoming, model=model))


def find_model(word: str, big: str, small: str, admin: bool) -> str | None:
    """Finds a model by word: big, small, a full name, or a part of one such as haiku. Only admins may choose other
    models than the two that are set. None if the word names no model."""
    word = word.lower()
    names = {"big": big, "small": small, big.lower(): big, small.lower(): small}
    families = {part: model for model in (small, big) for part in re.findall("[a-z]+", model.lower())}
    families.pop("claude", None)
    other = word if admin and FULL_NAME.fullmatch(word) else None
    return names.get(word) or families.get(word) or other


def choices(big: str, small: str, admin: bool) -> str:
    """Lists what can follow /retry."""
    full = ", or /retry with the full name of any model (claude-…)" if admin else ""
    return f"Write /retry, /retry big ({escape_markdown(big)}), /retry small ({escape_markdown(small)}){full}."
