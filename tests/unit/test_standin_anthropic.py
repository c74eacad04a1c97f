"""The Anthropic stand-in, driven by the real anthropic package."""

from __future__ import annotations

import asyncio
import importlib
import json
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tests.standins.anthropic import AnthropicStandIn, Fault, Reply, text, thinking, tool, web_search

if TYPE_CHECKING:
    import anthropic

MODEL = "claude-sonnet-5-5"
SEARCH: dict[str, Any] = {
    "name": "search_memory",
    "description": "Search.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
CACHED = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Imports the package only in the process that runs these tests, not in each that collects them: it takes 1.5 s."""
    globals()["anthropic"] = importlib.import_module("anthropic")


@pytest.fixture
async def model() -> AsyncIterator[AnthropicStandIn]:
    async with AnthropicStandIn(api_key="sk-ant-test") as standin:
        yield standin


@pytest.fixture
async def client(model: AnthropicStandIn) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        base_url=model.url, api_key="sk-ant-test", max_retries=0, timeout=5
    ) as connected:
        yield connected


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


async def create(client: anthropic.AsyncAnthropic, *messages: Any, **options: Any) -> anthropic.types.Message:
    turns = [user(one) if isinstance(one, str) else one for one in messages]
    return await client.messages.create(**({"model": MODEL, "max_tokens": 4000, "messages": turns} | options))


async def stream(
    client: anthropic.AsyncAnthropic, *messages: Any, **options: Any
) -> tuple[list[Any], anthropic.types.Message]:
    turns = [user(one) if isinstance(one, str) else one for one in messages]
    arguments: dict[str, Any] = {"model": MODEL, "max_tokens": 8000, "messages": turns} | options
    async with client.messages.stream(**arguments) as opened:
        events = [event async for event in opened]
        return events, await opened.get_final_message()


def said(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


async def test_the_standin_echoes_with_and_without_streaming(
    model: AnthropicStandIn, client: anthropic.AsyncAnthropic
) -> None:
    events, message = await stream(client, "héllo 🙂 " * 20)
    assert said(message) == "You said: " + ("héllo 🙂 " * 20).strip()
    assert sum(event.type == "text" for event in events) > 5
    assert (message.stop_reason, message.usage.input_tokens) == ("end_turn", 60)
    assert said(await create(client, "short")) == "You said: short"
    assert model.last.headers["anthropic-version"] == "2026-10-21"
    assert "authorization" not in model.last.headers
    assert model.last.outcome == "ok"
    assert model.stats["requests"] == 2


async def test_every_kind_of_block_is_streamed(model: AnthropicStandIn, client: anthropic.AsyncAnthropic) -> None:
    citation = {
        "type": "web_search_result_location",
        "url": "https://example.org/",
        "title": "Example",
        "cited_text": "x",
        "encrypted_index": "y",
    }
    blocks = [
        thinking("Let me see. " * 9),
        *web_search("weather"),
        text("It rains.", [citation]),
        tool("search_memory", {"query": "rain" * 20}),
    ]
    model.script([blocks, blocks])
    _, message = await stream(client, "hi", tools=[SEARCH])
    assert [block.type for block in message.content] == [block["type"] for block in blocks]
    assert message.content[0].signature == blocks[0]["signature"]
    assert message.content[1].input == {"query": "weather"}
    assert message.content[2].content[0].url == "https://example.org/"
    assert message.content[3].citations[0].title == "Example"
    assert message.content[4].input == {"query": "rain" * 20}
    assert message.stop_reason == "tool_use"
    assert message.usage.server_tool_use.web_search_requests == 1
    again = await create(client, "hi", tools=[SEARCH])
    assert [block.type for block in again.content] == [block.type for block in message.content]
    # A reply is accepted when it is sent back, including its thinking.
    result = {"type": "tool_result", "tool_use_id": message.content[4].id, "content": "wet"}
    sent_back = assistant([block.model_dump(exclude_none=True) for block in message.content])
    assert said(await create(client, "hi", sent_back, user([result]), tools=[SEARCH])) == "The tool said: wet"


async def test_the_prompt_cache_follows_a_growing_conversation(
    model: AnthropicStandIn, client: anthropic.AsyncAnthropic
) -> None:
    system = [text("s" * 4000), text("m" * 4000) | CACHED]
    history: list[Any] = []
    reads, created = [], []
    for turn in range(4):
        question = [text(f"{turn}" * 400) | CACHED]
        answer = await create(client, *history, user(question), system=system)
        history += [user([text(f"{turn}" * 400)]), assistant("ok ok ok")]
        reads.append(answer.usage.cache_read_input_tokens)
        created.append(answer.usage.cache_creation_input_tokens)
        assert answer.usage.input_tokens == 0
    assert reads == [0, 2100, 2202, 2304]
    assert created == [2100, 102, 102, 102]
    assert model.counts["cache_read_input_tokens"] == sum(reads)
    changed = await create(client, "x", system=[text("t" * 4000), text("m" * 4000) | CACHED])
    assert changed.usage.cache_read_input_tokens == 0


async def test_the_prompt_cache_has_the_limits_of_the_api() -> None:
    now = 0.0
    async with (
        AnthropicStandIn(clock=lambda: now) as model,
        anthropic.AsyncAnthropic(base_url=model.url, api_key="sk-ant-test", max_retries=0) as client,
    ):
        small = await create(client, user([text("x" * 4092) | CACHED]))
        assert (small.usage.cache_creation_input_tokens, small.usage.input_tokens) == (0, 1023)

        async def ask(content: list[Any]) -> int:
            return (await create(client, user(content))).usage.cache_read_input_tokens or 0

        long = text("x" * 8000)
        assert await ask([long | CACHED]) == 0
        near, far = [text(str(number)) for number in range(18)], [text(str(number)) for number in range(19)]
        assert await ask([long, *near, text("end") | CACHED]) == 2000
        assert await ask([long, *far, text("End") | CACHED]) == 0  # more than 20 blocks back
        now = 299.0
        assert await ask([long | CACHED]) == 2000
        now = 598.0
        assert await ask([long | CACHED]) == 2000  # the hit renewed it
        now = 900.0
        assert await ask([long | CACHED]) == 0
        other = await create(client, user([long | CACHED]), model="claude-opus-5-5")
        assert other.usage.cache_read_input_tokens == 0


BAD: list[tuple[str, dict[str, Any]]] = [
    ("max_tokens: Field required", {"max_tokens": None}),
    ("temperature: Extra inputs", {"temperature": 1.0}),
    ("top_p: Extra inputs", {"top_p": 0.9}),
    ("top_k: Extra inputs", {"top_k": 5}),
    ("at least one message", {"messages": []}),
    ("must be non-empty", {"messages": [user([text("")])]}),
    ("non-whitespace", {"messages": [user([text(" \n")])]}),
    ("must be non-empty", {"system": [text("")]}),
    ('must use the "user" role', {"messages": [assistant("hi"), user("hi")]}),
    ('Unexpected role "system"', {"messages": [{"role": "system", "content": "x"}]}),
    ("messages.0.role", {"messages": [{"role": "tool", "content": "x"}]}),
    (
        "without `tool_result` blocks immediately after: t1",
        {"messages": [user("a"), assistant([tool("f", {}, "t1")]), user("b")]},
    ),
    (
        "unexpected `tool_use_id` found in `tool_result` blocks: t2",
        {"messages": [user([{"type": "tool_result", "tool_use_id": "t2", "content": "x"}])]},
    ),
    ("maximum of 4 blocks with cache_control may be provided. Found 5", {"system": [text("x") | CACHED] * 5}),
    ("does not support assistant message prefill", {"messages": [user("a"), assistant("b")]}),
    ("Input tag 'nonsense_1' found", {"tools": [{"type": "nonsense_1", "name": "x"}]}),
    ("tools.0.custom.input_schema: Field required", {"tools": [{"name": "x"}]}),
    ("Tool names must be unique", {"tools": [SEARCH, SEARCH]}),
    ("Input tag 'video' found", {"messages": [user([{"type": "video"}])]}),
    ("can only be in `user` messages", {"messages": [user("a"), assistant([{"type": "document"}]), user("b")]}),
    ("Invalid `signature`", {"messages": [user("a"), assistant([thinking("x") | {"thinking": "y"}]), user("b")]}),
    ("prompt is too long: 250000 tokens > 200000 maximum", {"messages": [user("x" * 1_000_000)]}),
    ("nonsense: Extra inputs", {"nonsense": 1}),
]


@pytest.mark.parametrize(("message", "change"), BAD)
async def test_invalid_requests_are_refused(model: AnthropicStandIn, message: str, change: dict[str, Any]) -> None:
    body = {"model": MODEL, "max_tokens": 100, "messages": [user("hi")]} | change
    headers = {"x-api-key": "sk-ant-test", "anthropic-version": "2026-10-21"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{model.url}/v1/messages", json=body, headers=headers) as response,
    ):
        answer = await response.json()
        assert (response.status, answer["error"]["type"]) == (400, "invalid_request_error")
        assert message in answer["error"]["message"]
        assert response.headers["request-id"] == answer["request_id"]


async def test_keys_and_headers_are_checked(model: AnthropicStandIn, client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.AuthenticationError):
        await create(client.with_options(api_key="sk-wrong"), "hi")
    with pytest.raises(anthropic.AuthenticationError):
        await create(client, "hi", extra_headers={"x-api-key": "sk-wrong"})
    with pytest.raises(anthropic.BadRequestError, match="anthropic-version"):
        await create(client, "hi", extra_headers={"anthropic-version": anthropic.omit})
    old = {"extra_headers": {"anthropic-version": "2023-06-01"}, "extra_body": {"temperature": 0.5}}
    assert said(await create(client, "hi", **old)) == "You said: hi"


async def test_token_counts_and_models_are_served(client: anthropic.AsyncAnthropic) -> None:
    counted = await client.messages.count_tokens(model=MODEL, messages=[user("x" * 41)], system="y" * 4)
    assert counted.input_tokens == 12
    listed = [one.id async for one in client.models.list()]
    assert MODEL in listed
    assert (await client.models.retrieve(MODEL)).max_input_tokens == 200_000
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("claude-none")
    with pytest.raises(anthropic.NotFoundError):
        await create(client, "hi", model="gpt-none")


async def test_scripts_and_rules_decide_the_answers(model: AnthropicStandIn, client: anthropic.AsyncAnthropic) -> None:
    model.rule("weather", "It rains.")
    model.rule(lambda request: "Relay" in request.system_text, lambda request: f"{len(request.messages)} messages")
    model.rule(None, "A summary.", model="haiku", times=1)
    model.script(["one", Reply(["two"], stop_reason="pause_turn"), Fault("529")])
    assert said(await create(client, "weather")) == "one"
    assert (await create(client, "weather")).stop_reason == "pause_turn"
    assert said(await create(client, "sum up", model="claude-haiku-5-5")) == "A summary."
    assert said(await create(client, "sum up", model="claude-haiku-5-5")).startswith("Summary of 1 messages")
    with pytest.raises(anthropic.OverloadedError):
        await create(client, "weather")
    assert said(await create(client, "the weather?")) == "It rains."
    assert said(await create(client, "hello", system="You are Relay.")) == "1 messages"
    assert len(await model.wait_requests(2, model="haiku")) == 2
    with pytest.raises(TimeoutError):
        await model.wait_requests(1, 0.05, "never said")


async def test_forced_tools_schemas_and_limits_are_respected(client: anthropic.AsyncAnthropic) -> None:
    forced = await create(client, "hi", tools=[SEARCH], tool_choice={"type": "tool", "name": "search_memory"})
    assert forced.content[0].input == {"query": "example"}
    schema = {"type": "object", "properties": {"facts": {"type": "array", "items": {}}}, "required": ["facts"]}
    shaped = await create(client, "hi", output_config={"format": {"type": "json_schema", "schema": schema}})
    assert json.loads(said(shaped)) == {"facts": []}
    cut = await create(client, "a long text indeed", max_tokens=4)
    assert (said(cut), cut.stop_reason, cut.usage.output_tokens) == ("You said: a long", "max_tokens", 4)
    stopped = await create(client, "one END two", stop_sequences=["END"])
    assert (said(stopped), stopped.stop_reason, stopped.stop_sequence) == ("You said: one ", "stop_sequence", "END")


async def test_directives_in_a_message_control_the_answer(
    model: AnthropicStandIn, client: anthropic.AsyncAnthropic
) -> None:
    assert said(await create(client, "please ((say Hi [LEARN: likes tea])) now")) == "Hi [LEARN: likes tea]"
    long = said(await create(client, "((long 20000))", max_tokens=9000))
    assert len(long) == 20000
    assert "```python" in long
    began = time.monotonic()
    await stream(client, "((slow 0.3)) ((say abc))")
    assert time.monotonic() - began > 0.25
    question = 'find ((tool search_memory {"query": "a ))"})) ((say Found.))'
    first = await create(client, question, tools=[SEARCH])
    assert (first.stop_reason, first.content[0].input) == ("tool_use", {"query": "a ))"})
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "x"}
    turns = [question, assistant([first.content[0].model_dump(exclude_none=True)]), user([result])]
    assert said(await create(client, *turns, tools=[SEARCH])) == "Found."
    both = await create(client, "((tool a {})) ((tool b {})) ((parallel))")
    assert [block.name for block in both.content] == ["a", "b"]
    with pytest.raises(anthropic.RateLimitError):
        await create(client, "((fail 429 1)) ((say recovered))")
    assert said(await create(client, "((fail 429 1)) ((say recovered))")) == "recovered"
    model.user_marker = r"Message:\n"
    assert said(await create(client, "Recalled: ((say old))\nMessage:\nnew")) == "You said: new"


ERRORS = [
    ("429", "RateLimitError"),
    ("529", "OverloadedError"),
    ("500", "InternalServerError"),
    ("503", "ServiceUnavailableError"),
    ("auth401", "AuthenticationError"),
    ("billing", "PaymentRequiredError"),
    ("not_found", "NotFoundError"),
    ("too_long", "BadRequestError"),
    ("credit", "BadRequestError"),
]


@pytest.mark.parametrize(("kind", "error"), ERRORS)
async def test_http_faults_are_raised_by_the_sdk(
    model: AnthropicStandIn, client: anthropic.AsyncAnthropic, kind: str, error: str
) -> None:
    model.fault(kind, after=1)
    await create(client, "fine")
    raised: type[anthropic.APIStatusError] = getattr(anthropic, error)
    with pytest.raises(raised) as caught:
        await stream(client, "not fine")
    assert caught.value.request_id == model.last.request_id
    if kind == "429":
        assert caught.value.response.headers["retry-after"] == "1"
    await create(client, "fine again")
    assert sum(model.stats["faults"].values()) == 1


async def test_the_sdk_retries_transient_faults(model: AnthropicStandIn, client: anthropic.AsyncAnthropic) -> None:
    model.fault(529, times=2, retry_after=0.01)
    assert said(await create(client.with_options(max_retries=2), "hi")) == "You said: hi"
    assert model.stats["requests"] == 3


async def test_connection_faults_are_raised_by_the_sdk(
    model: AnthropicStandIn, client: anthropic.AsyncAnthropic
) -> None:
    model.fault("disconnect", times=2)
    for ask in (create, stream):
        with pytest.raises(anthropic.APIConnectionError):
            await ask(client, "hi")
    model.fault("hang")
    with pytest.raises(anthropic.APITimeoutError):
        await create(client.with_options(timeout=0.2), "hi")
    for kind in ("cut", "error_event", "stall"):
        model.fault(kind, deltas=4)
        seen: list[str] = []
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the SDK lets httpx errors through
            await _collect(client.with_options(timeout=0.3), seen)
        assert len(seen) == 4
        assert kind != "error_event" or "overloaded_error" in str(caught.value)
        assert model.last.outcome == kind
    model.fault("cut")
    with pytest.raises(anthropic.APIConnectionError):
        await create(client, "hi")


async def _collect(client: anthropic.AsyncAnthropic, seen: list[str]) -> None:
    turns: Any = [user("word " * 100)]
    async with client.messages.stream(model=MODEL, max_tokens=1000, messages=turns) as opened:
        async for piece in opened.text_stream:
            seen.append(piece)  # noqa: PERF401 - what came before the break counts


async def test_faults_can_be_unusual_answers(model: AnthropicStandIn, client: anthropic.AsyncAnthropic) -> None:
    for kind, reason in (
        ("refusal", "refusal"),
        ("max_tokens", "max_tokens"),
        ("empty", "end_turn"),
        ("context_window", "model_context_window_exceeded"),
        ("garbage_tool_input", "tool_use"),
    ):
        model.fault(kind, times=2)
        _, streamed = await stream(client, "hello there", tools=[SEARCH])
        whole = await create(client, "hello there", tools=[SEARCH])
        assert (streamed.stop_reason, whole.stop_reason) == (reason, reason)
        if kind in ("refusal", "empty"):
            assert streamed.content == whole.content == []
        if kind == "refusal":
            assert streamed.stop_details.category == whole.stop_details.category == "general_harms"
        if kind == "max_tokens":
            assert said(streamed) == said(whole) == "You said: "
        if kind == "garbage_tool_input":
            assert "INVALID_JSON" in whole.content[-1].input
    model.fault("invalid_tool_input")
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        await stream(client, "hello", tools=[SEARCH])


async def test_latency_is_simulated_and_a_disconnected_client_is_noticed(
    model: AnthropicStandIn, client: anthropic.AsyncAnthropic
) -> None:
    model.delay, model.chunk_delay = 0.1, 0.05
    began = time.monotonic()
    _, message = await stream(client, "x" * 38)
    assert said(message) == "You said: " + "x" * 38
    assert time.monotonic() - began >= 0.2
    model.chunk_delay = 5
    task = asyncio.create_task(stream(client, "leave"))
    await model.wait_requests(2)
    await asyncio.sleep(0.2)
    task.cancel()
    assert (await model.wait_requests(2, 2, finished=True))[-1].outcome == "disconnected"
    assert model.stats["running"] == 0


async def test_the_control_interface_works_over_http(model: AnthropicStandIn, client: anthropic.AsyncAnthropic) -> None:
    async with aiohttp.ClientSession(f"{model.url}/_control/") as control:

        async def call(method: str, path: str, body: Any = None) -> Any:
            async with control.request(method, path, json=body) as response:
                return await response.json()

        await call("POST", "rule", {"regex": "we.ther", "reply": "rain"})
        await call("POST", "script", {"replies": ["first", {"text": "second", "stop_reason": "pause_turn"}]})
        assert said(await create(client, "weather")) == "first"
        assert (await create(client, "weather")).stop_reason == "pause_turn"
        assert said(await create(client, "weather")) == "rain"
        await call("POST", "fault", {"kind": 503, "times": 1, "match": "weather"})
        with pytest.raises(anthropic.ServiceUnavailableError):
            await create(client, "weather")
        assert (await call("POST", "settings", {"delay": 0.01, "cache_minimum": 64}))["cache_minimum"] == 64
        assert model.delay == 0.01
        assert "error" in await call("POST", "settings", {"nonsense": 1})
        assert "error" in await call("POST", "fault", {"kind": "nonsense"})
        assert (await call("GET", "wait?n=4"))["requests"] == 4
        stats = await call("GET", "stats")
        assert (stats["requests"], stats["errors"], stats["faults"]) == (4, 1, {"503": 1})
        logged = await call("GET", "requests?since=3")
        assert [(one["outcome"], one["body"]["model"]) for one in logged] == [("503", MODEL)]
        await call("DELETE", "rules")
        assert said(await create(client, "weather")) == "You said: weather"
        await call("POST", "reset")
        assert model.stats["requests"] == 0
