"""The model's part of a turn: streaming, retries, resuming after a cut, and tool calls until it is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.conversation.continuation import continue_messages, cut_text, join_continuation, join_text
from relay.conversation.history import Prompt, pair_tool_calls
from relay.core import metrics
from relay.core.errors import (
    BudgetUsedUp,
    ContextTooLong,
    DatabaseError,
    DataRefused,
    EmptyAnswer,
    ModelRefused,
    ModelUnavailable,
    StreamCut,
)
from relay.core.frozen import frozen
from relay.core.models import Block, ModelMessage, ModelRequest, Reply, Step, ToolDefinition
from relay.core.ports import Sink
from relay.core.retry import RetryPolicy
from relay.core.tasks import wait_or_cancel
from relay.memory.answers import CUT_OFF
from relay.memory.intents import visible
from relay.memory.spending.gate import Work

MOST_STEPS = 12
PATIENCE = 180.0
RETRIES = RetryPolicy(first=0.5, longest=20.0, obeyed=PATIENCE)
"""How failed calls are retried. `PATIENCE`: the seconds of silence after which the model is given up."""
MOST_CUTS = 4
"""How often an answer may break off. The next time, the text so far counts as the answer."""
TELL_AFTER = 10.0
"""Seconds of trouble after which the user gets a notice."""
Request = Callable[[Sequence[ModelMessage], bool], ModelRequest]
"""Builds a call from the steps so far. The flag: a tool has returned untrusted text."""

ToolInput = dict[str, Any]
"""A tool's input: JSON that may not fit its schema."""

ToolRun = Callable[[ToolInput], Awaitable[tuple[str, bool]]]
"""Runs a tool; returns its result and whether that is untrusted."""


@frozen
class Tools:
    """Tools for the model: their definitions in Anthropic's shape, and the functions that run Relay's own."""

    definitions: list[ToolDefinition] = field(default_factory=list)
    runs: dict[str, ToolRun] = field(default_factory=dict)
    note_taint: Callable[[bool], None] = lambda _: None
    """Called before they run. The flag: the model has read untrusted text, which it may have found on the web just
    before it called them."""


@dataclass(slots=True)
class Dialogue:
    """A dialogue in progress: its text, calls and counts so far."""

    sink: Sink
    work: Work
    steps: list[ModelMessage] = field(default_factory=list)
    text: str = ""
    step_text: str = ""
    model: str = ""
    tainted: bool = False
    dirty: bool = False
    """A tool has returned untrusted text, so the next call gets fewer tools; except when it resumes after a pause,
    which needs the same tools."""
    tools: list[str] = field(default_factory=list)

    def hear(self, delta: str) -> None:
        self.step_text += delta
        self.sink.text(lambda: visible(self.join_all()))

    def join_all(self) -> str:
        """Returns all text so far. Text around tool calls is in separate paragraphs."""
        return "\n\n".join(part for part in (self.text, self.step_text) if part)

    def reply(self, status: str, note: str = "") -> Reply:
        """Returns the dialogue so far, ending on the assistant's side, as the next prompt needs."""
        self.steps = pair_tool_calls(self.steps)
        if self.steps and self.steps[-1]["role"] == "user":
            self.steps.append({"role": "assistant", "content": [{"type": "text", "text": "(stopped here)"}]})
        return Reply(
            steps=self.steps,
            text=self.join_all(),
            status=status,
            usage=self.work.tally.usage,
            model=self.model,
            tainted=self.tainted,
            tools=tuple(self.tools),
            note=note,
        )


async def converse(
    work: Work, request: Request, prompt: Prompt, tools: Tools, sink: Sink, stop: asyncio.Event
) -> Reply:
    """Runs the dialogue until it is done, `stop` is set, or a budget is used up. `work` makes and counts the calls.
    Raises the `ModelError` tree if the model can't answer, and `BudgetUsedUp`. Text that arrived before counts as a
    cut answer."""
    talk = Dialogue(sink, work, tainted=prompt.tainted)
    for _ in range(MOST_STEPS):
        try:
            step = await make_step(request, talk, stop)
        except BudgetUsedUp as error:
            if not talk.steps and not talk.join_all().strip():
                raise
            return make_partial_reply(talk, "cut", str(error))
        except ModelUnavailable as error:
            if not talk.join_all().strip():
                raise
            return make_partial_reply(talk, "cut", work.tally.used_up or f"⚠️ {error.plain} Say “go on” for the rest.")
        if step is None:
            return make_partial_reply(talk, "stopped", "Stopped.")
        keep(talk, step)
        if step.stop_reason == "tool_use" and any(block["type"] == "tool_use" for block in step.blocks):
            tools.note_taint(talk.tainted)
            talk.steps.append({"role": "user", "content": await run_tools(step.blocks, tools, talk)})
            talk.dirty = talk.tainted
        elif step.stop_reason != "pause_turn":
            return make_reply(talk, step)
    return talk.reply("cut", "I stopped here: that took too many steps.")


def keep(talk: Dialogue, step: Step) -> None:
    """Adds a finished step. The API accepts only JSON objects as inputs of tools."""
    talk.model = step.model
    blocks = [
        block if isinstance(block.get("input", {}), dict) else block | {"input": {}}
        for block in step.blocks
        if block.get("type") != "text" or block["text"].strip()
    ]
    if blocks:
        talk.steps.append({"role": "assistant", "content": blocks})
    talk.step_text = "".join(block["text"] for block in blocks if block["type"] == "text")
    talk.text, talk.step_text = talk.join_all(), ""
    note_searches(talk, blocks)


def note_searches(talk: Dialogue, blocks: Sequence[Block]) -> None:
    """Notes searches by the model itself: later text may come from them."""
    for block in blocks:
        if block["type"] == "server_tool_use":
            talk.tools.append(block["name"])
            talk.tainted = True


def make_reply(talk: Dialogue, step: Step) -> Reply:
    """Converts the last step's stop reason to the whole answer's status."""
    if step.stop_reason == "refusal":
        raise ModelRefused()
    if step.stop_reason == "model_context_window_exceeded" and not talk.text:
        raise ContextTooLong()
    if not talk.text.strip():
        raise EmptyAnswer()
    if step.stop_reason in CUT_OFF:
        return talk.reply("cut", "The answer reached its length limit. Say “go on” for the rest.")
    return talk.reply("complete")


def make_partial_reply(talk: Dialogue, status: str, note: str) -> Reply:
    """Keeps what was said before the user stopped it or the model was given up."""
    if talk.step_text.strip():
        talk.steps.append({"role": "assistant", "content": [{"type": "text", "text": talk.step_text}]})
    return talk.reply(status, note)


async def make_step(request: Request, talk: Dialogue, stop: asyncio.Event) -> Step | None:
    """Makes one call, retrying transient errors. None if the user stopped it."""
    partial, failures, cuts = "", 0, 0
    deadline = time.monotonic() + PATIENCE
    trouble = OutageNotice(talk.sink)
    talk.step_text = ""

    def hear(delta: str) -> None:
        nonlocal deadline
        if delta:
            deadline = time.monotonic() + PATIENCE
            trouble.end()
            talk.hear(delta)

    try:
        while True:
            made = request([*talk.steps, *continue_messages(partial)], talk.dirty)
            trouble.begin()
            try:
                step = await wait_or_cancel(stop, talk.work.reply(made, hear))
                return step if step is None or not partial else join_continuation(partial, step)
            except StreamCut as cut:
                talk.model = cut.model
                note_searches(talk, cut.blocks)
                talk.dirty = talk.tainted
                partial, cuts = join_text(partial, heard := cut_text(cut)), cuts + bool(heard)
                failure: ModelUnavailable = cut
            except ModelUnavailable as error:
                failure = error
            talk.step_text = partial
            failures += 1
            pause = RETRIES.pause(failures, failure)
            if cuts > MOST_CUTS or time.monotonic() + pause > deadline or talk.work.tally.used_up:
                raise failure
            trouble.begin(str(failure))
            metrics.RETRIES.labels("model", type(failure).__name__).inc()
            if await wait_or_cancel(stop, asyncio.sleep(pause, True)) is None:
                return None
    finally:
        trouble.end()


class OutageNotice:
    """Tells the user when the model has been silent for a while, and why if known."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._sentence = "The model hasn't started to answer."
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, sentence: str = "") -> None:
        self._sentence = sentence or self._sentence
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TELL_AFTER, self._tell)

    def _tell(self) -> None:
        self._sink.report_wait(f"⏳ {self._sentence} I'll keep trying.")

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def run_tools(blocks: Sequence[Block], tools: Tools, talk: Dialogue) -> list[Block]:
    """Runs each tool that a step called. Failures are reported to the model, unless the turn itself can't go on."""
    results: list[Block] = []
    for block in blocks:
        if block["type"] != "tool_use":
            continue
        talk.tools.append(block["name"])
        text, failed = "", False
        run = tools.runs.get(block["name"])
        given = block.get("input")
        if run is None or not isinstance(given, dict):
            text, failed = "There is no such tool, or its input isn't a JSON object.", True
        else:
            try:
                text, dirty = await run(given)
                talk.tainted = talk.tainted or dirty
            except (TypeError, ValueError, KeyError, ArithmeticError, DataRefused) as error:
                text, failed = f"The input does not fit: {error}", True
            except DatabaseError as error:
                if type(error) is not DatabaseError:  # such as TurnLost: the turn itself can't go on
                    raise
                text, failed = "That doesn't work right now.", True
        results.append({"type": "tool_result", "tool_use_id": block["id"], "content": text or "(nothing)"})
        if failed:
            results[-1]["is_error"] = True
    return results
