"""The HTTP side: requests in; answers, streams and errors out."""

import asyncio
import json
import secrets
import time
from typing import TYPE_CHECKING

from aiohttp import web

from .blocks import Json, dumps
from .cache import Prompt, lay_out
from .faults import HTTP, WIRE, Fault, RefusedError, refusal
from .record import SECRET_HEADERS, Recorded
from .replies import Answer, compose, with_fault
from .stream import count_deltas, event, events, whole
from .validate import BadRequestError, validate

if TYPE_CHECKING:
    from .server import AnthropicStandIn

FLUSH = 16 * 1024
"""How many bytes to gather before a write, if there is no delay."""


class Wire:
    """The HTTP side of a stand-in."""

    def __init__(self, model: "AnthropicStandIn") -> None:
        self.model = model

    def add_routes(self, app: web.Application) -> None:
        """The public API's routes."""
        app.router.add_post("/v1/messages", self.messages)
        app.router.add_post("/v1/messages/count_tokens", self.count_tokens)
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_get("/v1/models/{id}", self.get_model)

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/messages."""
        recorded = self._recorded(request)
        self.model.running += 1
        self.model.most_running = max(self.model.most_running, self.model.running)
        try:
            response = await self._answer(request, recorded)
            recorded.outcome = "ok" if recorded.outcome == "open" else recorded.outcome
            return response
        except RefusedError as refused:
            return self._error(recorded, refused)
        except (asyncio.CancelledError, ConnectionError):
            if recorded.outcome == "open":
                recorded.outcome = "disconnected"
            raise
        finally:
            self.model.running -= 1
            recorded.finished_at = time.monotonic()
            self.model.notify()

    async def count_tokens(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/messages/count_tokens."""
        recorded = self._recorded(request)
        try:
            await self._read(request, recorded, counting=True)
            return web.json_response({"input_tokens": lay_out(recorded.body).tokens}, headers=self._headers(recorded))
        except RefusedError as refused:
            return self._error(recorded, refused)

    async def list_models(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/models."""
        recorded = self._recorded(request)
        try:
            self._authenticate(request)
        except RefusedError as refused:
            return self._error(recorded, refused)
        models = [self._model_info(id) for id in self.model.models]
        page = {"data": models, "has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}
        return web.json_response(page, headers=self._headers(recorded))

    async def get_model(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/models/{id}."""
        recorded = self._recorded(request)
        id = request.match_info["id"]
        try:
            self._authenticate(request)
            if id not in self.model.models:
                raise RefusedError(404, "not_found_error", f"model: {id}")
        except RefusedError as refused:
            return self._error(recorded, refused)
        return web.json_response(self._model_info(id), headers=self._headers(recorded))

    def _model_info(self, id: str) -> Json:
        line = id.split("-")[1] if "-" in id else None
        return {
            "type": "model",
            "id": id,
            "display_name": id.replace("-", " ").title(),
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "line": line,
            "max_input_tokens": self.model.context_window,
            "max_tokens": self.model.validation.max_output,
        }

    def _recorded(self, request: web.Request) -> Recorded:
        headers = {name.lower(): value for name, value in request.headers.items() if name.lower() not in SECRET_HEADERS}
        id = f"req_011{secrets.token_hex(10)}"
        return Recorded(self.model.counts["requests"] + 1, request.path, headers, {}, request_id=id)

    def _headers(self, recorded: Recorded) -> dict[str, str]:
        return {"request-id": recorded.request_id, "anthropic-organization-id": "stand-in"}

    def _authenticate(self, request: web.Request) -> None:
        # The SDK sends a bearer token since 2.0. If a request has both, x-api-key counts.
        key = request.headers.get("x-api-key")
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if key is None and not (scheme.lower() == "bearer" and bearer):
            raise RefusedError(401, "authentication_error", "x-api-key header is required")
        if (key if key is not None else bearer) != self.model.api_key:
            raise RefusedError(401, "authentication_error", "invalid x-api-key")
        if not request.headers.get("anthropic-version"):
            raise RefusedError(400, "invalid_request_error", "anthropic-version: header is required")

    async def _read(self, request: web.Request, recorded: Recorded, counting: bool = False) -> None:
        """Authenticate, read, log and validate a request."""
        try:
            recorded.body = json.loads(await request.read())
        except web.HTTPRequestEntityTooLarge:
            raise RefusedError(413, "request_too_large", "Request exceeds the maximum size") from None
        except ValueError:
            raise RefusedError(400, "invalid_request_error", "The request body is not valid JSON") from None
        finally:
            if not counting:
                self.model.record(recorded)
        self._authenticate(request)
        try:
            validate(recorded.body, request.headers["anthropic-version"], self.model.validation, counting)
        except BadRequestError as refused:
            raise RefusedError(400, "invalid_request_error", str(refused)) from None
        except (AttributeError, TypeError, KeyError) as broken:
            raise RefusedError(400, "invalid_request_error", f"Input of an unexpected type: {broken}") from None

    async def _answer(self, request: web.Request, recorded: Recorded) -> web.StreamResponse:
        model = self.model
        await self._read(request, recorded)
        if not recorded.model.startswith("claude") and recorded.model not in model.models:
            raise RefusedError(404, "not_found_error", f"model: {recorded.model}")
        prompt = lay_out(recorded.body)
        if prompt.tokens > model.context_window:
            raise refusal(Fault("too_long"), recorded.model, prompt.tokens, model.context_window)
        fault = model.take_fault(recorded)
        await self._strike(request, recorded, fault, prompt)
        reply = with_fault(await model.choose(recorded), fault)
        if reply.fault is not fault:
            await self._strike(request, recorded, reply.fault, prompt)
        answer = compose(reply, recorded)
        answer.first_delay = model.delay if reply.first_delay is None else reply.first_delay
        answer.chunk_delay = model.chunk_delay if reply.chunk_delay is None else reply.chunk_delay
        if answer.spread is not None:
            answer.chunk_delay = answer.spread / max(1, count_deltas(answer, model.delta_size))
        read = model.cache.read(prompt)
        if answer.first_delay:
            await asyncio.sleep(answer.first_delay)
        message = self._message(recorded, answer, model.cache.write(prompt, read))
        model.count(recorded)
        broken = reply.fault if reply.fault is not None and reply.fault.name in WIRE else None
        if recorded.body.get("stream"):
            return await self._stream(request, recorded, answer, message, broken)
        return await self._whole(request, recorded, answer, message, broken)

    def _message(self, recorded: Recorded, answer: Answer, used: Json) -> Json:
        searches = sum(block.get("name") == "web_search" for block in answer.blocks)
        usage = used | {"output_tokens": answer.output_tokens, "service_tier": "standard"}
        if searches:
            usage["server_tool_use"] = {"web_search_requests": searches, "web_fetch_requests": 0}
        recorded.usage = usage
        recorded.reply = answer.blocks
        return {
            "id": f"msg_01{secrets.token_hex(11)}",
            "type": "message",
            "role": "assistant",
            "model": recorded.model,
            "content": [whole(block) for block in answer.blocks],
            "stop_reason": answer.stop_reason,
            "stop_sequence": answer.stop_sequence,
            "stop_details": answer.stop_details,
            "usage": usage,
        }

    async def _stream(
        self, request: web.Request, recorded: Recorded, answer: Answer, message: Json, fault: Fault | None
    ) -> web.StreamResponse:
        headers = self._headers(recorded) | {"content-type": "text/event-stream; charset=utf-8"}
        response = web.StreamResponse(headers=headers | {"cache-control": "no-cache"})
        recorded.status = 200
        await response.prepare(request)
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        usage = {name: message["usage"][name] for name in names}
        if "server_tool_use" in message["usage"]:
            usage["server_tool_use"] = message["usage"]["server_tool_use"]
        left = (3 if fault.deltas is None else fault.deltas) if fault else -1
        gathered = bytearray()
        for data, is_delta in events(message, answer, usage, self.model.delta_size):
            closing = fault is not None and data.startswith((b"event: content_block_stop", b"event: message_delta"))
            if closing or (is_delta and left == 0):
                break
            if is_delta and answer.chunk_delay:
                await response.write(bytes(gathered))
                gathered.clear()
                await asyncio.sleep(answer.chunk_delay)
            left -= is_delta
            gathered += data
            if len(gathered) > FLUSH:
                await response.write(bytes(gathered))
                gathered.clear()
        if fault is not None:
            await self._break_off(request, recorded, response, bytes(gathered), fault)
            return response
        await response.write(bytes(gathered))
        await response.write_eof()
        return response

    async def _break_off(
        self, request: web.Request, recorded: Recorded, response: web.StreamResponse, data: bytes, fault: Fault
    ) -> None:
        """Break off a running stream as the fault demands."""
        self._note(recorded, fault)
        if fault.name == "error_event":
            error = {"type": "overloaded_error", "message": fault.message or "Overloaded"}
            body = {"type": "error", "error": error, "request_id": recorded.request_id}
            await response.write(data + event("error", body))
            await response.write_eof()
            return
        await response.write(data)
        if fault.name == "stall":
            await self.model.released.wait()
        if request.transport is not None:
            request.transport.close()

    async def _whole(
        self, request: web.Request, recorded: Recorded, answer: Answer, message: Json, fault: Fault | None
    ) -> web.StreamResponse:
        if answer.chunk_delay:
            await asyncio.sleep(answer.chunk_delay * count_deltas(answer, self.model.delta_size))
        if fault is not None and fault.name == "error_event":
            self._note(recorded, fault)
            raise refusal(Fault("529", message=fault.message), recorded.model)
        body = dumps(message).encode("utf-8", "replace")
        headers = self._headers(recorded) | {"content-type": "application/json"}
        recorded.status = 200
        if fault is None:
            return web.Response(body=body, headers=headers)
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        await self._break_off(request, recorded, response, body[: len(body) // 2], fault)
        return response

    async def _strike(self, request: web.Request, recorded: Recorded, fault: Fault | None, prompt: Prompt) -> None:
        """Act on a fault that prevents an answer."""
        if fault is None:
            return
        if fault.name in HTTP:
            self._note(recorded, fault)
            raise refusal(fault, recorded.model, prompt.tokens, self.model.context_window)
        if fault.name in ("hang", "disconnect"):
            self._note(recorded, fault)
            if fault.name == "hang":
                await self.model.released.wait()
            if request.transport is not None:
                request.transport.close()
            raise ConnectionResetError("closed by a fault")
        if fault.name not in WIRE:
            self._note(recorded, fault)

    def _note(self, recorded: Recorded, fault: Fault) -> None:
        recorded.outcome = fault.name
        self.model.faulted[fault.name] = self.model.faulted.get(fault.name, 0) + 1

    def _error(self, recorded: Recorded, refused: RefusedError) -> web.Response:
        """The response for an error."""
        recorded.status = refused.status
        recorded.outcome = "error" if recorded.outcome == "open" else recorded.outcome
        self.model.counts["errors"] += 1
        error = {"type": refused.type, "message": refused.message}
        body = {"type": "error", "error": error, "request_id": recorded.request_id}
        return web.json_response(body, status=refused.status, headers=self._headers(recorded) | refused.headers)
