"""What counts as a summary of what the small model wrote; and a model that takes too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from relay.errors import ContextTooLong, EmptyAnswer, ModelRefused, ModelUnavailable
from relay.jobs import Few, asked, summary_of
from relay.models import ModelRequest, Step


def step(text: str, reason: str) -> Step:
    return Step([{"type": "text", "text": text}], reason, {}, "small")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ada likes tea. She lives in", "Ada likes tea."),
        ("She asked “why?” and left. Then sh", "She asked “why?” and left."),
        ("It cost 3.5 euros! Nobody knew that 4.", "It cost 3.5 euros! Nobody knew that 4."),
        ("エイダはお茶が好き。彼女は", "エイダはお茶が好き。"),
        ("- likes tea\n- lives in Berlin\n- works a", "- likes tea\n- lives in Berlin"),
    ],
)
def test_a_summary_that_was_cut_ends_with_a_whole_sentence(text: str, kept: str) -> None:
    assert summary_of(step(text, "max_tokens")) == kept
    assert summary_of(step(text, "end_turn")) == text


def test_what_is_no_summary() -> None:
    with pytest.raises(ModelRefused):
        summary_of(step("I cannot help with that.", "refusal"))
    for text, reason in (("Ada likes", "max_tokens"), ("[LEARN: x]", "end_turn"), ("", "end_turn")):
        with pytest.raises(EmptyAnswer):
            summary_of(step(text, reason))
    with pytest.raises(ContextTooLong):
        summary_of(step("Ada likes", "model_context_window_exceeded"))


async def test_a_model_that_takes_too_long_is_said_in_words() -> None:
    class Slow:
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            await asyncio.Event().wait()
            raise AssertionError

    async def keep(spend: dict[str, Any]) -> None: ...

    with pytest.raises(ModelUnavailable, match="longer than"):
        await asked(Slow(), ModelRequest("small", [], [], 10), 0.01, keep)


async def test_the_time_spent_waiting_for_a_place_is_not_the_models() -> None:
    class Steady:
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            await asyncio.sleep(0.2)
            return step(request.model, "end_turn")

    async def keep(spend: dict[str, Any]) -> None: ...

    few = Few(Steady(), 1)
    requests = (ModelRequest(str(number), [], [], 10) for number in range(5))
    assert len(await asyncio.gather(*(asked(few, request, 0.6, keep) for request in requests))) == 5


async def test_a_few_are_asked_at_once_and_one_that_fails_makes_room() -> None:
    running: list[str] = []
    most = 0
    go_on = asyncio.Event()

    class Counting:
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            nonlocal most
            running.append(request.model)
            most = max(most, len(running))
            try:
                await go_on.wait()
                if request.model == "2":
                    raise ModelUnavailable
                return step(request.model, "end_turn")
            finally:
                running.remove(request.model)

    few = Few(Counting(), 3)
    tasks = [
        asyncio.create_task(few.reply(ModelRequest(str(number), [], [], 10), lambda _: None)) for number in range(10)
    ]
    for _ in range(20):
        await asyncio.sleep(0)
    assert running == ["0", "1", "2"]
    tasks[9].cancel()  # who gives up while waiting takes nobody's place
    go_on.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in done].count(Step) == 8
    assert isinstance(done[2], ModelUnavailable)
    assert most == 3
