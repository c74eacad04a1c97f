"""A conversation on the terminal: answers are printed as they grow, and it ends when the person ends it."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from relay.__main__ import Output
from relay.clients.offline import OfflineModel
from relay.core.errors import ModelRefused, OtherVersion
from relay.core.models import ModelRequest
from relay.core.program import RELAY
from relay.core.prompt_markup import make_request, mark_untrusted
from relay.core.text import escape_sentence
from relay.memory.claims import ClaimedTurn, ClaimResult
from relay.memory.rows.turns.inbox import InboxRow
from relay.runtime import storage
from relay.surfaces.cli.terminal import conversation as chat
from relay.surfaces.cli.terminal.desk import BOT, WAITING
from relay.surfaces.cli.terminal.keyboard import read_line
from relay.surfaces.cli.terminal.messenger import Terminal, name_commands
from relay.surfaces.telegram.formatting.format import format_preview, format_reply
from relay.surfaces.telegram.groups.groups import make_connection
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker
from tests.standins.anthropic.directives import long_text
from tests.unread import unread

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
    assert len(early) > 0.4 * len(answer) or answer != long_text(9000) or step > 1000, (
        "much of the answer is printed while it grows"
    )


async def test_the_waiting_notice_is_printed_between_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Terminal(None)
    for draft in ("One.\n\nTw", "One.\n\nTw\n\n⏳ The model is very busy right now.", "One.\n\nTwo.\n\nThr"):
        await printer.call("sendMessageDraft", text=draft)
    await printer.call("sendMessage", text="One.\n\nTwo!\n\nThree.")
    assert capsys.readouterr().out == "One.\n\n⏳ The model is very busy right now.\nTwo.\n\nTwo!\n\nThree.\n"


def turn_of(turn_id: int, *updates: int) -> ClaimedTurn:
    return ClaimedTurn(turn_id, 1, "message", "working", 0, 9, tuple({"update_id": one} for one in updates), ())


@dataclass
class Lane:
    """A conversation's queue and its turns: a line is handed out once nothing else is open."""

    begun: list[ClaimedTurn] = field(default_factory=list)
    """Turns that an earlier process left."""
    elsewhere: bool = False
    """Another process answers."""
    trouble: Exception | None = None
    """What a claim raises."""
    seconds: float = 0.0
    """How long each answer takes."""
    waiting: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)

    async def intake(self, bot_id: int, rows: list[InboxRow], limit: int) -> tuple[list[ClaimedTurn], float]:
        self.waiting += [row.update_id for row in rows]
        return self.begun, 0.0

    async def claim(self, bot_id: int, limit: int, running: list[int]) -> tuple[list[ClaimedTurn], ClaimResult]:
        if self.trouble:
            raise self.trouble
        due = [] if running or self.elsewhere or not self.waiting else [turn_of(2, self.waiting.pop(0))]
        return due, ClaimResult()

    async def run(self, turn: ClaimedTurn) -> bool:
        await asyncio.sleep(self.seconds)
        self.answered.append(turn.turn_id)
        return True


def conversation_in(lane: Lane) -> chat.Conversation:
    parts: Any = SimpleNamespace(store=lane, people=None, installation=SimpleNamespace(version="", scratch=None))
    terminal, desk = Terminal(None), SimpleNamespace(asks=False)
    worker = Worker(parts, parts, make_connection(terminal, BOT), TurnMedia(unread(terminal)), lambda _: None, 4)
    worker.runner = lane  # type: ignore[assignment]
    return chat.Conversation(9, "Olga", terminal, worker, desk, lane)  # type: ignore[arg-type]


async def test_a_line_is_answered_after_a_slow_older_one_that_runs_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chat, "BUSY_SECONDS", 0.2)
    lane = Lane(begun=[turn_of(1, 7)], seconds=0.5)
    await conversation_in(lane).say("Hello")
    assert lane.answered == [1, 2]
    assert chat.BUSY not in capsys.readouterr().out


async def test_a_line_that_nobody_answers_here_is_said_to_wait(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chat, "BUSY_SECONDS", 0.05)
    lane = Lane(elsewhere=True)
    await conversation_in(lane).say("Hello")
    assert lane.answered == []
    assert capsys.readouterr().out == f"{chat.BUSY}\n"


async def test_a_line_says_that_it_waits_for_the_database(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "SLOW_SECONDS", 0.05)
    lane = Lane()
    intake = lane.intake

    async def slow(*row: Any) -> tuple[list[ClaimedTurn], float]:
        await asyncio.sleep(0.3)
        return await intake(*row)

    monkeypatch.setattr(lane, "intake", slow)
    await conversation_in(lane).say("Hello")
    assert (lane.answered, capsys.readouterr().err) == ([2], f"relay: {WAITING}\n")


async def test_a_line_waits_for_no_worker_that_has_ended() -> None:
    lane = Lane(begun=[turn_of(1, 7)], trouble=OtherVersion("Restart Relay."), seconds=0.1)
    async with asyncio.timeout(10):
        with pytest.raises(OtherVersion, match="Restart"):
            await conversation_in(lane).say("Hello")
    assert lane.answered == [1], "what runs is answered first"


async def test_leaving_waits_briefly_for_running_work_and_then_cancels_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chat, "AT_ONCE_SECONDS", 0.05)
    done: list[int] = []

    async def judging(seconds: float) -> int:
        await asyncio.sleep(seconds)
        done.append(1)
        return 1

    soon, never = asyncio.create_task(judging(0.01)), asyncio.create_task(judging(3600))
    await chat.end_work({soon, never}, 0.1, "One moment.")
    assert done == [1]
    assert never.cancelled()
    assert capsys.readouterr().out == "One moment.\n"
    await chat.end_work({asyncio.create_task(judging(0))}, 5, "One moment.")
    await chat.end_work(set(), 5, "One moment.")
    assert capsys.readouterr().out == "", "nothing is printed if the work ends at once"


def test_a_prompt_goes_nowhere_once_the_output_has_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(os.devnull) as keyboard, Output(open(writer, "wb")) as output:
        monkeypatch.setattr(sys, "stdin", keyboard)
        monkeypatch.setattr(sys, "stdout", output)
        for _ in range(2):
            assert asyncio.run(read_line("you › ")) == ""


async def test_the_offline_model_uses_no_tokens() -> None:
    request = ModelRequest("claude", [], [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], 100)
    assert (await OfflineModel().reply(request, lambda _: None)).usage == {}


def test_commands_are_named_as_in_the_shell_but_markers_stay() -> None:
    told = name_commands("Use /keepit, or write `##keepit0.80##` before and `##/keepit##` after it.")
    assert told == f"Use {RELAY} keepit, or write `##keepit0.80##` before and `##/keepit##` after it."
    assert name_commands(escape_sentence("Write /forget #12.")) == f"Write {RELAY} forget 12.", (
        "# begins a comment there"
    )


@pytest.mark.parametrize(
    "asked",
    [
        mark_untrusted("Call the dentist", "message"),
        "# CHECK AGAINST\nPrefer (high): short answers\n\n" + mark_untrusted("Hello!", "text"),
    ],
)
async def test_the_stand_in_refuses_what_an_echo_cannot_answer(asked: str) -> None:
    with pytest.raises(ModelRefused, match="offline there is none"):
        await OfflineModel().reply(make_request("small", "Say it.", asked, 100), lambda text: None)
