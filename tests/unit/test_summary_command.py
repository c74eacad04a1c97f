"""/summary correct: the whole text to copy, and texts that are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relay.core.models import File
from relay.surfaces.chat.dispatch import hear_answer, press_button
from relay.surfaces.telegram.formatting.format import format_reply
from tests.unit.test_commands import Canned, call, told

ONE = {"id": 4, "number": 1, "author_id": None, "by": None, "tainted": False, "model": "small",
       "created_at": "2026-05-03T12:00:00Z"}  # fmt: skip


def found(text: str) -> dict[str, Any]:
    about = {"present": 4, "fresh": 0, "messages": 4, "through": "2026-05-03T12:00:00Z", "versions": 1}
    return {"summary": ONE | {"text": text}} | about


async def test_the_summary_to_correct_is_sent_whole() -> None:
    text = "# Tea\n\n- Ada likes *green* tea\n- Ben does not\n" + "\n".join(f"line {n}" for n in range(380))
    asked = await told("summary", call(Canned(summary=found(text[:3400])), "correct"))
    (shown,) = format_reply(asked.text)
    assert shown.text.startswith("✎ summary #4 – reply to this message")
    assert shown.text.endswith(text[:3400])
    assert [one["type"] for one in shown.entities] == ["pre"]
    assert asked.asks


async def test_a_summary_too_long_for_a_message_is_sent_as_a_document() -> None:
    text = "Tea.\n" * 1000
    pressed = await press_button(call(Canned(summary=found(text))), "zc")
    assert pressed.says is not None
    assert pressed.says.text.startswith("✎ summary #4 ")
    assert pressed.says.file == File("summary.md", text.encode())


@pytest.mark.parametrize(
    ("text", "words", "wrong"),
    [
        ("ä" * 3500, "That's about 1750 tokens; a summary can have at most 1500.", True),
        ("a" * 4096, "may be only the first part of your text", False),
        (" ", "Send it as text", True),
    ],
)
async def test_a_text_that_cannot_be_a_summary_is_refused(text: str, words: str, wrong: bool) -> None:
    database = Canned()
    done = await hear_answer(call(database, text, message={"message_id": 2, "text": text}), "summary", 4)
    assert words in done.text
    assert (done.refused, done.wrong) == (True, wrong)
    assert not database.calls


async def test_a_corrected_summary_keeps_its_lines() -> None:
    database = Canned(summary=found("Tea."), correct_summary=True)
    await hear_answer(call(database, "Tea.\n\n- green\n- black"), "summary", 4)
    given = next(given for name, given in database.calls if name == "correct_summary")
    assert given["text"] == "Tea.\n\n- green\n- black"


async def test_the_reason_for_a_failed_summary_is_shown_literally() -> None:
    job = {"failures": 1, "last_error": "no *such* model_name_", "parked": False}
    nothing = {"summary": None, "fresh": 0, "versions": 0, "present": None, "messages": 0, "through": None}
    database = Canned(want_summary="3", job=job, summary=nothing)
    done = await told("summary", replace(call(database, "refresh"), admin=True))
    (shown,) = format_reply(done.text)
    assert "no *such* model_name_" in shown.text
    pressed = await press_button(replace(call(database), admin=True), "zr")
    assert "no *such* model_name_" in pressed.toast
