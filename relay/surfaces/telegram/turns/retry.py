"""`/retry` with a model: which one is meant. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from relay.commands.context import Services
from relay.core.text import escape_markdown
from relay.surfaces.telegram.turns.understand import Understood

FULL_NAME = re.compile(r"claude-[a-z0-9][a-z0-9.@:_-]{0,99}")

UNPRICED = (
    "I do not know what {} costs, so I cannot keep to the budget with it. Its price can be given in the file that "
    "RELAY\\_PRICES names."
)


def with_model(understood: Understood, services: Services, admin: bool) -> Understood:
    """An input with the model that /retry names, or the line that says what can be said."""
    model = meant(understood.wanted, services.installation.model, services.installation.small_model, admin)
    if model is None or understood.incoming is None:
        return Understood(
            understood.place, notice=choices(services.installation.model, services.installation.small_model, admin)
        )
    if services.budget.refuses(model):
        notice = UNPRICED if admin else "I can't use that model here."
        return Understood(understood.place, notice=notice.format(escape_markdown(model)))
    return replace(understood, incoming=replace(understood.incoming, model=model))


def meant(word: str, big: str, small: str, admin: bool) -> str | None:
    """The model that a word names: big, small, a full name, or a part of one such as haiku. Any other than the two that
    are set is for admins, who pay for it. None: the word names none."""
    word = word.lower()
    names = {"big": big, "small": small, big.lower(): big, small.lower(): small}
    families = {part: model for model in (small, big) for part in re.findall("[a-z]+", model.lower())}
    families.pop("claude", None)
    other = word if admin and FULL_NAME.fullmatch(word) else None
    return names.get(word) or families.get(word) or other


def choices(big: str, small: str, admin: bool) -> str:
    """What can be said after /retry."""
    full = ", or /retry and the full name of any model (claude-…)" if admin else ""
    return f"Say /retry, /retry big ({escape_markdown(big)}), /retry small ({escape_markdown(small)}){full}."
