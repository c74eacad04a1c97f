"""At a terminal, Ctrl-C ends each question at once, and Ctrl-D ends cleanly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.acceptance.pty import Person
from tests.places import furnish

Start = Callable[..., Person]
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Runs `relay …` on a database of its own. The process ends with the test."""
    for data in (tmp_path / "data", tmp_path / "data" / "offline"):
        await furnish(data)
    people: list[Person] = []

    def run(*words: str) -> Person:
        people.append(Person(tmp_path, *words, RELAY_DATA_DIR=str(tmp_path / "data")))
        return people[-1]

    yield run
    for person in people:
        person.child.close(force=True)


async def interrupted(person: Person, at: str) -> None:
    await person.sees(at)
    person.child.sendintr()
    assert await person.ends() == 130
    assert "Traceback" not in person.screen
    assert "Fatal" not in person.screen


@pytest.mark.slow("test_setup_ask.py and test_typed_text_is_shown_and_ctrl_d_ends_the_chat")
async def test_ctrl_c_ends_each_question_at_once(start: Start) -> None:
    await interrupted(start("remember", "I", "have", "a", "boat"), "Which button? A number, or an empty line to end: ")
    assert await start("backup", "--to", "all.relaybackup").ends() == 0
    person = start("restore", "--replace", "all.relaybackup")
    await interrupted(person, "Type yes to replace it: ")
    assert "It is backed up" not in person.screen, "nothing was replaced"
    await interrupted(start("chat", "--offline"), "you › ")


async def test_typed_text_is_shown_and_ctrl_d_ends_the_chat(start: Start) -> None:
    person = start("chat", "--offline")
    await person.answers(("you › ", "Ich mag Öl auf dem Brot"))
    await person.sees("Öl auf dem Brot")
    await person.sees("you › ")
    person.child.sendeof()
    assert await person.ends() == 0
    assert "Traceback" not in person.screen
