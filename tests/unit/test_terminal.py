"""A conversation on the terminal: an answer is printed as it grows, and it ends when its person ends it."""

from __future__ import annotations

import asyncio

import pytest

from relay.clients.fakes import OfflineModel
from relay.core.models import ModelRequest
from relay.surfaces.cli.terminal import conversation as chat
from relay.surfaces.cli.terminal.messenger import Terminal
from relay.surfaces.telegram.formatting.format import format_preview, format_reply
from tests.standins.anthropic.directives import long_text

TABLE = (
    "Here is **bold text** and a list:\n\n- one **two** three\n- four\n\n"
    "| fruit | price |\n|---|---|\n| apple | 1 |\n| blood orange | 25 |\n\n"
    "```python\nprint(1)\n```\n\nThe end."
)


@pytest.mark.parametrize("step", [1, 7, 1500])
@pytest.mark.parametrize("answer", [TABLE, long_text(9000), "One line only."], ids=["table", "long", "line"])
async def test_each_line_of_an_answer_is_printed_once(
    answer: str, step: int, capsys: pytest.CaptureFixture[str]
) -> None:
    step = max(step, len(answer) // 80)
    printer = Terminal(None)
    for end in range(step, len(answer), step):
        await printer.call("sendMessageDraft", text=format_preview(answer[:end]).text)
    early = capsys.readouterr().out
    parts = [part.text for part in format_reply(answer)]
    for part in parts:
        await printer.call("sendMessage", text=part)
    shown = early + capsys.readouterr().out
    assert [line for line in shown.split("\n") if line] == [line for part in parts for line in part.split("\n") if line]
    assert len(early) > 0.4 * len(answer) or answer != long_text(9000) or step > 1000, "it is seen to grow"


async def test_that_the_model_keeps_silent_is_printed_besides(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Terminal(None)
    for draft in ("One.\n\nTw", "One.\n\nTw\n\n⏳ The model is very busy right now.", "One.\n\nTwo.\n\nThr"):
        await printer.call("sendMessageDraft", text=draft)
    await printer.call("sendMessage", text="One.\n\nTwo!\n\nThree.")
    assert capsys.readouterr().out == "One.\n\n⏳ The model is very busy right now.\nTwo.\n\nTwo!\n\nThree.\n"


async def test_leaving_waits_a_moment_for_what_goes_on_says_so_and_then_ends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chat, "AT_ONCE_SECONDS", 0.05)
    done: list[int] = []

    async def judging(seconds: float) -> int:
        await asyncio.sleep(seconds)
        done.append(1)
        return 1

    soon, never = asyncio.create_task(judging(0.01)), asyncio.create_task(judging(3600))
    await chat.cut_short({soon, never}, 0.1, "One moment.")
    assert done == [1]
    assert never.cancelled()
    assert capsys.readouterr().out == "One moment.\n"
    await chat.cut_short({asyncio.create_task(judging(0))}, 5, "One moment.")
    await chat.cut_short(set(), 5, "One moment.")
    assert capsys.readouterr().out == "", "what is done at once needs no words"


async def test_what_the_stand_in_says_costs_nothing() -> None:
    request = ModelRequest("claude", [], [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], 100)
    assert (await OfflineModel().reply(request, lambda _: None)).usage == {}
