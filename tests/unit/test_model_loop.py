"""The model loop of a turn: over the wire against the stand-in, and step by step with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from relay.clients.anthropic.client import Claude
from relay.conversation import model_loop
from relay.conversation.continuation import continue_messages, join_continuation
from relay.conversation.history import Prompt
from relay.conversation.model_loop import MOST_STEPS, RETRIES, Tools, converse, run_tools
from relay.core.errors import (
    ContextTooLong,
    DatabaseError,
    DataRefused,
    EmptyAnswer,
    ModelAccountError,
    ModelError,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    OtherVersion,
    StreamCut,
    TurnLost,
)
from relay.core.models import Block, ModelRequest, Reply, Step
from relay.core.retry import RetryPolicy
from relay.memory.rows.turns.record import PromptRecord
from relay.memory.spending.budget import Tally
from relay.memory.spending.gate import Gate, Work
from tests.standins.anthropic import AnthropicStandIn, text, tool, web_search
from tests.standins.anthropic import Reply as Said
from tests.standins.fakes import FakeLedger, FakeSink

SEARCH = {"name": "search_memory", "description": "d", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without waiting."""
    monkeypatch.setattr(model_loop, "RETRIES", RetryPolicy(first=0.0, longest=0.0))


@pytest.fixture
async def api() -> AsyncIterator[AnthropicStandIn]:
    async with AnthropicStandIn(delta_size=4) as standin:
        yield standin


@pytest.fixture
async def claude(api: AnthropicStandIn) -> AsyncIterator[Claude]:
    client = Claude("sk-ant-test", api.url, 5)
    yield client
    await client.close()


async def found(given: dict[str, Any]) -> tuple[str, bool]:
    return f"found {given['query']}", given["query"] == "dirty"


async def talk(
    model: Any, sink: FakeSink | None = None, stop: asyncio.Event | None = None, tally: Tally | None = None
) -> Reply:
    asked = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]

    def request(steps: Sequence[dict[str, Any]], dirty: bool = False) -> ModelRequest:
        return ModelRequest("claude-sonnet-5-5", [], [*asked, *steps], 1000, [SEARCH])

    prompt = Prompt([], asked, False, PromptRecord())
    tools = Tools([SEARCH], {"search_memory": found})
    work = work_on(model)
    work.tally = tally or work.tally
    return await converse(work, request, prompt, tools, sink or FakeSink(), stop or asyncio.Event())


def work_on(model: Any) -> Work:
    return Work(Tally("m"), None, Gate(model, FakeLedger()))


# Over the wire


async def test_an_answer_is_streamed_and_complete(api: AnthropicStandIn, claude: Claude) -> None:
    api.script(["Hello there, how are you?"])
    sink = FakeSink()
    reply = await talk(claude, sink)
    assert (reply.text, reply.status, reply.note) == ("Hello there, how are you?", "complete", "")
    assert reply.steps == [{"role": "assistant", "content": [{"type": "text", "text": "Hello there, how are you?"}]}]
    assert reply.usage["output_tokens"] > 0
    assert len(sink.texts) > 3
    assert all("Hello there, how are you?".startswith(shown) for shown in sink.texts)


async def test_tools_run_and_all_steps_are_kept_in_order(api: AnthropicStandIn, claude: Claude) -> None:
    api.script([[text("Let me look."), tool("search_memory", {"query": "tea"})], "Here it is."])
    sink = FakeSink()
    reply = await talk(claude, sink)
    assert reply.text == "Let me look.\n\nHere it is."
    assert [[block["type"] for block in step["content"]] for step in reply.steps] == [
        ["text", "tool_use"], ["tool_result"], ["text"],
    ]  # fmt: skip
    assert reply.steps[1]["content"][0]["content"] == "found tea"
    assert reply.tools == ("search_memory",)
    assert reply.tainted is False
    assert sink.texts[-1] == "Let me look.\n\nHere it is."


async def test_parallel_tool_calls_may_fail_separately(api: AnthropicStandIn, claude: Claude) -> None:
    api.script([[tool("search_memory", {"query": "dirty"}), tool("search_memory", {})], "Done."])
    reply = await talk(claude)
    results = reply.steps[1]["content"]
    assert [result.get("is_error", False) for result in results] == [False, True]
    assert reply.tainted is True


async def test_web_search_taints_the_reply(api: AnthropicStandIn, claude: Claude) -> None:
    api.script([[*web_search("tea"), text("The web says.")]])
    reply = await talk(claude)
    assert reply.tainted is True
    assert reply.tools == ("web_search",)
    assert reply.usage["web_search_requests"] == 1
    assert reply.text.endswith("The web says.")


@pytest.mark.parametrize("kind", ["429", "500", "503", "529", "disconnect"])
async def test_transient_errors_are_retried(api: AnthropicStandIn, claude: Claude, kind: str) -> None:
    api.fault(kind, 2)
    api.rule("Hello", "Here I am.")
    reply = await talk(claude)
    assert (reply.text, reply.status) == ("Here I am.", "complete")
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("401", ModelAccountError), ("402", ModelAccountError), ("403", ModelAccountError),
        ("credit", ModelAccountError),
        ("404", ModelError), ("400", ModelError), ("413", ContextTooLong), ("too_long", ContextTooLong),
        ("pdf", ContextTooLong), ("image", ContextTooLong),
        ("refusal", ModelRefused), ("empty", EmptyAnswer),
    ],
)  # fmt: skip
async def test_permanent_errors_are_raised_at_once_without_secrets(
    api: AnthropicStandIn, claude: Claude, kind: str, error: type[ModelError]
) -> None:
    api.fault(kind, None)
    with pytest.raises(error) as raised:
        await talk(claude)
    assert len(api.requests) == 1
    assert not isinstance(raised.value, ModelUnavailable)
    for secret in ("sk-ant", "127.0.0.1", "http", "Traceback"):
        assert secret not in str(raised.value)


@pytest.mark.parametrize("kind", ["cut", "error_event"])
async def test_a_broken_stream_is_continued(api: AnthropicStandIn, claude: Claude, kind: str) -> None:
    api.fault(kind, 1, deltas=3)
    api.script(["Once upon a time there was", " the rest."])
    sink = FakeSink()
    reply = await talk(claude, sink)
    assert reply.text.startswith("Once upon a ")
    assert len(reply.steps) == 1
    assert len(reply.steps[0]["content"]) == 1
    roles = [message["role"] for message in api.last.body["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert sink.texts[-1].split() == reply.text.split()


async def test_a_reply_cut_at_the_length_limit_says_so(api: AnthropicStandIn, claude: Claude) -> None:
    api.script([Said("A long story", stop_reason="max_tokens")])
    reply = await talk(claude)
    assert (reply.text, reply.status) == ("A long story", "cut")
    assert "go on" in reply.note


async def test_a_reply_cut_at_a_full_context_window_says_so(api: AnthropicStandIn, claude: Claude) -> None:
    api.fault("context_window", 1)
    reply = await talk(claude)
    assert (reply.status, bool(reply.text)) == ("cut", True)
    with pytest.raises(ContextTooLong):
        await talk(Scripted(step(reason="model_context_window_exceeded")))


# Step by step


class Scripted:
    """A model that plays back steps, errors, or functions to await."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.requests.append(request)
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(said, Exception):
            raise said
        if callable(said):
            return await said(on_text)  # type: ignore[no-any-return]
        for block in said.blocks:
            on_text(block.get("text", ""))
        return said  # type: ignore[no-any-return]


def step(*blocks: Block | str, reason: str = "end_turn") -> Step:
    whole = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return Step(whole, reason, {"input_tokens": 5, "output_tokens": 2}, "m")


def cut(*texts: str) -> StreamCut:
    return StreamCut([{"type": "text", "text": text} for text in texts], {"input_tokens": 5, "output_tokens": 1}, "m")


async def test_a_stream_that_breaks_twice_is_continued_twice() -> None:
    model = Scripted(cut("one "), cut("two "), step("three"))
    reply = await talk(model)
    assert reply.text == "one two three"
    assert reply.usage == {"input_tokens": 15, "output_tokens": 4}
    assert len(model.requests[-1].messages) == 3


async def test_a_stream_that_always_breaks_is_given_up_with_what_there_is() -> None:
    model = Scripted(cut("again "))
    reply = await talk(model)
    assert (reply.text, reply.status) == ("again " * 5, "cut")
    assert "go on" in reply.note
    assert len(model.requests) == 5


async def test_a_busy_model_that_is_given_up_is_called_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_loop, "PATIENCE", 0.3)
    with pytest.raises(ModelThrottled, match="very busy"):
        await talk(Scripted(ModelThrottled(0)))


async def test_a_tool_step_without_a_call_ends_the_answer() -> None:
    reply = await talk(Scripted(step("That's all.", reason="tool_use")))
    assert (reply.text, reply.status, len(reply.steps)) == ("That's all.", "complete", 1)


async def test_a_tool_input_that_is_no_object_is_not_sent_back() -> None:
    call = {"type": "tool_use", "id": "t", "name": "search_memory", "input": [1, 2]}
    reply = await talk(Scripted(step(call, reason="tool_use"), step("It failed.")))
    assert reply.text == "It failed."
    assert reply.steps[0]["content"] == [call | {"input": {}}]
    assert reply.steps[1]["content"][0]["is_error"]


async def test_an_unavailable_model_is_given_up_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_loop, "PATIENCE", -1.0)
    with pytest.raises(ModelUnavailable):
        await talk(Scripted(ModelUnavailable()))


async def test_retrying_time_counts_from_the_last_text_received(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_loop, "PATIENCE", 0.5)

    async def slow(on_text: Callable[[str], None]) -> Step:
        await asyncio.sleep(0.6)
        on_text("one ")
        raise cut("one ")

    reply = await talk(Scripted(slow, step("two")))
    assert (reply.text, reply.status) == ("one two", "complete")


async def test_text_received_before_giving_up_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_loop, "PATIENCE", 0.5)
    reply = await talk(Scripted(cut("one "), cut("two "), ModelUnavailable()))
    assert (reply.text, reply.status) == ("one two ", "cut")
    assert "go on" in reply.note
    assert reply.steps == [{"role": "assistant", "content": [{"type": "text", "text": "one two "}]}]
    call = {"type": "tool_use", "id": "t", "name": "search_memory", "input": {"query": "x"}}
    reply = await talk(Scripted(step("I look.", call, reason="tool_use"), ModelUnavailable()))
    assert (reply.text, reply.status) == ("I look.", "cut")
    assert [s["role"] for s in reply.steps] == ["assistant", "user", "assistant"]


async def test_the_number_of_tool_steps_is_limited() -> None:
    call = {"type": "tool_use", "id": "t", "name": "search_memory", "input": {"query": "x"}}
    reply = await talk(Scripted(step(call, reason="tool_use")))
    assert reply.status == "cut"
    assert "too many steps" in reply.note
    assert len([s for s in reply.steps if s["role"] == "assistant"]) == MOST_STEPS + 1
    assert reply.steps[-1]["role"] == "assistant"


async def test_a_paused_turn_is_continued() -> None:
    reply = await talk(Scripted(step("half", reason="pause_turn"), step("whole")))
    assert reply.text == "half\n\nwhole"


async def test_empty_text_blocks_are_not_kept() -> None:
    reply = await talk(Scripted(step("", "  \n", "said")))
    assert reply.steps == [{"role": "assistant", "content": [{"type": "text", "text": "said"}]}]


async def test_stopping_ends_the_reply_at_once() -> None:
    async def slow(on_text: Callable[[str], None]) -> Step:
        on_text("so far")
        await asyncio.sleep(30)
        raise AssertionError

    stop, sink = asyncio.Event(), FakeSink()
    work = asyncio.create_task(talk(Scripted(slow), sink, stop))
    while not sink.texts:  # noqa: ASYNC110
        await asyncio.sleep(0)
    stop.set()
    async with asyncio.timeout(10):
        reply = await work
    assert (reply.text, reply.status, reply.note) == ("so far", "stopped", "Stopped.")
    assert reply.steps == [{"role": "assistant", "content": [{"type": "text", "text": "so far"}]}]


async def test_a_stopped_call_counts_the_tokens_reported_so_far(api: AnthropicStandIn, claude: Claude) -> None:
    api.chunk_delay = 0.2
    api.script(["A very long story. " * 50])
    tally, stop, sink = Tally("claude-sonnet-5-5"), asyncio.Event(), FakeSink()
    work = asyncio.create_task(talk(claude, sink, stop, tally))
    while not sink.texts:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    stop.set()
    assert (await work).status == "stopped"
    assert tally.usage["input_tokens"] > 0


async def test_stopping_before_any_text_gives_an_empty_reply() -> None:
    async def silent(_: Callable[[str], None]) -> Step:
        await asyncio.sleep(30)
        raise AssertionError

    stop = asyncio.Event()
    stop.set()
    reply = await talk(Scripted(silent), stop=stop)
    assert (reply.steps, reply.text) == ([], "")


async def test_stopping_after_a_tool_ends_with_an_assistant_step() -> None:
    stop = asyncio.Event()

    async def second(_: Callable[[str], None]) -> Step:
        stop.set()
        await asyncio.sleep(30)
        raise AssertionError

    call = {"type": "tool_use", "id": "t", "name": "search_memory", "input": {"query": "x"}}
    reply = await talk(Scripted(step("I look.", call, reason="tool_use"), second), stop=stop)
    assert [s["role"] for s in reply.steps] == ["assistant", "user", "assistant"]
    assert reply.text == "I look."


async def test_stopping_between_attempts_keeps_the_text_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_loop, "RETRIES", RetryPolicy(first=30.0, longest=30.0))
    stop = asyncio.Event()
    work = asyncio.create_task(talk(Scripted(cut("so far")), stop=stop))
    await asyncio.sleep(0.05)
    stop.set()
    async with asyncio.timeout(10):
        reply = await work
    assert (reply.text, reply.status) == ("so far", "stopped")


async def test_a_long_outage_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_loop, "TELL_AFTER", 0.02)
    monkeypatch.setattr(model_loop, "RETRIES", RetryPolicy(first=0.03, longest=0.03))
    sink = FakeSink()
    await talk(Scripted(ModelThrottled(), ModelThrottled(), ModelThrottled(), step("finally")), sink)
    assert len(sink.waits) == 1
    assert "keep trying" in sink.waits[0]


async def test_a_short_outage_is_not_announced() -> None:
    sink = FakeSink()
    await talk(Scripted(ModelThrottled(), step("ok")), sink)
    await asyncio.sleep(0.01)
    assert sink.waits == []


def test_retry_pauses_are_bounded_and_obey_the_server() -> None:
    assert 3 <= RETRIES.pause(1, ModelThrottled(3.0)) <= 3.25
    for failures in range(1, 60):
        assert 0.25 <= RETRIES.pause(failures, ModelUnavailable()) <= 20.0
        assert 0.25 <= RETRIES.pause(failures, ModelThrottled(None)) <= 20.0
        assert RETRIES.pause(failures, ModelThrottled(0.01)) >= min(10, 0.25 * 2 ** (failures - 1))


def test_nothing_is_continued_when_no_text_was_received() -> None:
    assert continue_messages("") == continue_messages("  \n") == []
    assert [message["role"] for message in continue_messages("half ")] == ["assistant", "user"]
    assert continue_messages("half ")[0]["content"][0]["text"] == "half"


def test_a_continuation_without_text_keeps_the_earlier_text() -> None:
    call = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    assert join_continuation("half", step(call)).blocks == [{"type": "text", "text": "half"}, call]


async def test_an_unfinished_tag_is_never_shown() -> None:
    async def say(on_text: Callable[[str], None]) -> Step:
        for letter in "Ok. [LEARN: likes tea] Bye.":
            on_text(letter)
        return step("Ok. [LEARN: likes tea] Bye.")

    sink = FakeSink()
    reply = await talk(Scripted(say), sink)
    assert all("[" not in shown and "LEARN" not in shown for shown in sink.texts)
    assert reply.text == "Ok. [LEARN: likes tea] Bye."


@pytest.mark.parametrize("trouble", [OverflowError("cannot convert float infinity"), DataRefused("It holds a NUL.")])
async def test_the_model_is_told_why_a_tool_refused_its_input(trouble: Exception) -> None:
    async def refusing(given: dict[str, Any]) -> tuple[str, bool]:
        raise trouble

    call = {"type": "tool_use", "id": "t", "name": "n", "input": {"limit": float("inf")}}
    bound = model_loop.Dialogue(FakeSink(), work_on(None))
    (result,) = await run_tools([call], Tools([], {"n": refusing}), bound)
    assert result["is_error"]
    assert str(trouble) in result["content"]


@pytest.mark.parametrize("trouble", [DatabaseError("It took too long, 3 times in a row."), TurnLost(), OtherVersion()])
async def test_a_search_that_fails_does_not_fail_the_answer(trouble: Exception) -> None:
    async def failing(given: dict[str, Any]) -> tuple[str, bool]:
        raise trouble

    call = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    bound = model_loop.Dialogue(FakeSink(), work_on(None))
    if isinstance(trouble, TurnLost | OtherVersion):  # the turn can't go on
        with pytest.raises(type(trouble)):
            await run_tools([call], Tools([], {"n": failing}), bound)
        return
    (result,) = await run_tools([call], Tools([], {"n": failing}), bound)
    assert (result["content"], result["is_error"]) == ("That doesn't work right now.", True)


async def test_a_tool_result_is_never_empty() -> None:
    async def nothing(given: dict[str, Any]) -> tuple[str, bool]:
        return "", False

    call = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    bound = model_loop.Dialogue(FakeSink(), work_on(None))
    (result,) = await run_tools([call], Tools([], {"n": nothing}), bound)
    assert result["content"] == "(nothing)"
