"""A command gives the same result, and writes the same rows, through each surface that it declares."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relay.commands.registry import OPERATIONS
from relay.surfaces.chat.memory import cards
from relay.surfaces.chat.memory_views import View
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.surfaces import Installation, watch
from tests.integration.surfaces_past import differ, live, plain, result_of, rows_of, shows, written
from tests.integration.surfaces_table import CASES

SHARED = {name for name, one in OPERATIONS.items() if "http" in one.surfaces and {"chat", "cli"} & {*one.surfaces}}


@pytest.fixture(scope="module")
def past(embedded: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database with what an owner has."""
    name = embedded.create(TEMPLATE)
    live(Installation(embedded, name, tmp_path_factory.mktemp("past")))
    yield name
    embedded.drop(name)


@pytest.fixture(scope="module")
def past_rows(embedded: Server, past: str, tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The rows of that database."""
    return rows_of(Installation(embedded, past, tmp_path_factory.mktemp("rows")))


@pytest.fixture
def move_in(embedded: Server, past: str, tmp_path: Path) -> Iterator[Callable[[str], Installation]]:
    """Makes an installation with that past."""
    made: list[str] = []

    def make(surface: str) -> Installation:
        made.append(embedded.create(past))
        (tmp_path / surface).mkdir()
        return Installation(embedded, made[-1], tmp_path / surface)

    yield make
    for name in made:
        embedded.drop(name)


def test_each_command_of_several_surfaces_is_compared() -> None:
    assert {*CASES} == SHARED
    for name, case in CASES.items():
        assert {way for way in ("chat", "cli", "http") if getattr(case, way)} == {*OPERATIONS[name].surfaces}, name


@pytest.mark.slow("test_command_surfaces.py, test_buttons.py, and the tests of each command")
@pytest.mark.parametrize("name", sorted(CASES))
def test_a_command_does_the_same_through_each_surface(
    name: str, move_in: Callable[[str], Installation], past_rows: Counter[str], capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    results: dict[str, Any] = {}
    for surface in ("chat", "cli", "http"):
        if not (steps := getattr(case, surface)):
            continue
        there = move_in(surface)
        if case.before:
            there.sql(case.before)
        before = rows_of(there) if case.before else past_rows
        with watch(OPERATIONS[name].run) as seen:
            told = plain(getattr(there, surface)(steps))
        assert seen, f"{surface} does not run it"
        if surface in case.tells:
            wanted = functools.reduce(lambda value, field: value[field], case.part, result_of(seen[-1]))
            assert shows(told, wanted), f"{surface} tells programs something else: {told}"
        done = {"result": result_of(seen[-1]), "rows": written(before, rows_of(there))}
        results[surface] = plain(done, case.apart)
    first = next(iter(results))
    for surface in results:
        assert differ(results[first], results[surface]) == [], f"{surface} does not do what {first} does"


def test_an_old_card_is_drawn_again_with_why_nothing_was_done(move_in: Callable[[str], Installation]) -> None:
    there = move_in("chat")
    before = rows_of(there)
    *_, card = asyncio.run(there.talk(["/memory", cards.press_pin(4, View())]))
    assert "That can't be done: memory #4 is forgotten." in card
    assert "Has a cat" in card
    assert rows_of(there) == before
