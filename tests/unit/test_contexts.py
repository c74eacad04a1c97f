"""Contexts: numbers and settings as people type them, and the permission check in every command."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from relay.commands import contexts
from relay.commands.context import CommandContext
from relay.commands.contexts.draft import read_budget
from relay.commands.contexts.keepit import Passage
from relay.commands.contexts.wish import Wish, adjust
from relay.commands.history import sessions
from relay.core.errors import CommandRefused, NotAllowed, RelayError
from relay.core.models import Space
from relay.memory.contexts.settings import CompressionSettings
from relay.memory.rows.contexts.composition import ComposeRequest, Draft, PartAsked
from relay.surfaces.cli.shell import error_text

BUDGETS = {
    "8.5k": 8_500, "8,5k": 8_500, "16k": 16_000, "16 K": 16_000, "16000": 16_000, "16,000": 16_000, "16.000": 16_000,
    "16 000": 16_000, "16\u00a0000 tokens": 16_000, "1,234,567": 1_234_567, "0": 0, "": None, "8.5": None,
    "16.0": None, "1,000.000": None, "seven": None, "-5": None, "0.0001k": None,
}  # fmt: skip


@pytest.mark.parametrize(("typed", "tokens"), BUDGETS.items())
def test_a_budget_is_parsed_as_people_type_it(typed: str, tokens: int | None) -> None:
    assert read_budget(typed) == tokens


def test_given_options_change_the_compression_settings() -> None:
    standard = CompressionSettings(preset="gentle", distance=3).as_json()
    assert adjust(standard) == CompressionSettings(preset="gentle"), "the distance is the real one"
    assert adjust(standard, skip=2, markers="ignore", model="none", distance=5) == CompressionSettings(
        preset="gentle", skip_first=2, keepit="ignore", method="extract", distance=5
    )
    assert adjust(standard, model="big").model == "big"
    assert adjust(standard, tiers="50=20:1, 100=2:1").label() == "tiered-custom"
    for wrong in ({"markers": "some"}, {"model": "huge"}, {"tiers": "50=2:1"}):
        with pytest.raises(CommandRefused):
            adjust(standard, **wrong)


def test_a_refusal_on_the_command_line_names_shell_commands() -> None:
    assert error_text(CommandRefused("Nothing there. /sessions lists them.")) == (
        "Nothing there. relay sessions lists them."
    )
    assert error_text(RelayError("No such file: /sessions/a")) == "No such file: /sessions/a"


ARGUMENTS: dict[str, object] = {
    "request": ComposeRequest("a", ((1, PartAsked()),)), "draft": Draft("a"), "wish": Wish(), "passage": Passage(),
    "settings": CompressionSettings(), "weight": Decimal("0.5"), "versions": [1], "words": ["v001"], "name": "a",
    "change": {}, "asked": PartAsked(), "value": "on", "word": "1",
}  # fmt: skip
BY_ID = {"go_to", "list_projects", "open_project"}
"""These find the space by an id; `test_api_library.py` tests their permissions."""


def commands() -> list[Callable[..., Any]]:
    """The commands that read or change a space's contexts."""
    names = [f"{contexts.__name__}.{one.name}" for one in pkgutil.iter_modules(contexts.__path__)]
    modules = [*map(importlib.import_module, names), sessions]
    return [
        one for module in modules for name, one in vars(module).items()
        if inspect.iscoroutinefunction(one) and one.__module__ == module.__name__
        and not name.startswith("_") and name not in BY_ID
    ]  # fmt: skip


@pytest.mark.parametrize("command", commands(), ids=lambda one: one.__name__)
async def test_every_context_command_refuses_people_who_cannot_see_the_space(
    command: Callable[..., Any], stranger: Any
) -> None:
    wanted = [name for name, one in inspect.signature(command).parameters.items() if one.default is one.empty][1:]
    with pytest.raises(NotAllowed):
        await command(stranger, *(ARGUMENTS.get(name, 1) for name in wanted))


@pytest.fixture
def stranger() -> Any:
    """A context whose person left the group. Any call but the permission check fails."""

    async def sees(_: Space) -> bool:
        return False

    return CommandContext(
        services=None, turn=None, bot_id=1, space=Space("group", chat_id=-5), chat_id=-5, topic_id=0,  # type: ignore[arg-type]
        private=False, user_id=1, name="", admin=True, stop=None, sees=sees,  # type: ignore[arg-type]
    )  # fmt: skip
