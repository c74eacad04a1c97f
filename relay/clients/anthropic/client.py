"""Claude, or any server that speaks Anthropic's Messages API."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable
from typing import Any

import aiohttp
import structlog

from relay.clients.anthropic.body import encode_body
from relay.clients.anthropic.messages_api import FOREIGN, PAGE, MessagesAPI, Refused
from relay.clients.anthropic.stream import Streamed
from relay.core import metrics
from relay.core.errors import (
    ContextTooLong,
    ModelAccountError,
    ModelError,
    ModelMisconfigured,
    ModelThrottled,
    ModelUnavailable,
    OutOfCredit,
    StreamCut,
)
from relay.core.models import ModelRequest, Step
from relay.core.redaction.redact import redact

log = structlog.get_logger()

CHECK_SECONDS = 40.0
"""The time limit of a check in seconds. A self-hosted server may have to load the model first."""
TOO_LONG = re.compile(r"prompt is too long|context.*exceed|exceed.*context|\b(?:pdf|image)")
"""What the API says about a prompt that is too long, or that has too many pages or a file that it can't read. Fewer
messages and files help."""
TRANSIENT = ("overloaded_error", "rate_limit_error", "api_error", "timeout_error")
FAILURES = (Refused, aiohttp.ClientError, ValueError, LookupError, OSError, RecursionError)
"""Errors that can end a call."""
UNREACHED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
"""Errors that mean there was no connection: no address, refused (also by a proxy), no route, no TLS."""


class Claude:
    """The `Model` port."""

    def __init__(self, api_key: str, base_url: str, timeout: float) -> None:
        """`timeout`: seconds without a byte after which a call counts as hung."""
        self._timeout = timeout
        self._api = MessagesAPI(api_key, base_url, timeout)

    async def close(self) -> None:
        """Closes its connections."""
        await self._api.close()

    async def check(self, model: str) -> None:
        """Tests whether the model answers with this key by asking for one token, the cheapest request that reveals an
        account without credit. Raises the `ModelError` tree."""
        hello = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self._api.send(json.dumps(hello).encode())
        except FAILURES as error:
            raise _translate(error, Streamed(lambda _: None)) from None

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        try:
            step = await self._reply(request, on_text)
        except ModelError as error:
            metrics.ERRORS.labels("model", type(error).__name__).inc()
            if isinstance(error, StreamCut):
                metrics.tokens(request.model, error.usage)
            raise
        metrics.tokens(request.model, step.usage)
        return step

    async def _reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        streamed = Streamed(on_text, usage=request.used)
        first_token = metrics.start_stage("model_first_token")
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self._timeout) as silence, self._api.stream(_body(request)) as events:
                async for event in events:
                    silence.reschedule(now() + self._timeout)
                    streamed.take(event)
                    if streamed.blocks:
                        first_token()
        except FAILURES as error:
            raise _translate(error, streamed) from None
        finally:
            streamed.count_heard()
        if streamed.stop_reason is None:
            raise _cut_error(streamed)
        return Step(
            blocks=streamed.plain(), stop_reason=streamed.stop_reason, usage=streamed.usage, model=streamed.model
        )


def _body(request: ModelRequest) -> bytes:
    """Returns the request body as JSON."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": request.messages,
        "stream": True,
    }
    if request.tools:
        body["tools"] = request.tools
    if request.tools and request.tool_choice:
        body["tool_choice"] = request.tool_choice
    return encode_body(body)


def _cut_error(streamed: Streamed) -> ModelUnavailable:
    """Returns the error for a broken stream, with what had arrived."""
    if not streamed.blocks:
        return ModelUnavailable("The connection to the model was lost.")
    blocks: list[dict[str, object]] = streamed.plain()
    return StreamCut(blocks, streamed.usage, streamed.model)


def _translate(error: Exception, streamed: Streamed) -> ModelError:
    if not isinstance(error, Refused):
        log.warning("model call interrupted", error=type(error).__name__, begun=bool(streamed.model))
        return ModelUnavailable("I couldn't reach the model.") if isinstance(error, UNREACHED) else _cut_error(streamed)
    told = redact(error.message)[:500]
    log.warning("model call refused", status=error.status, type=error.kind, told=told)
    kind, message = error.kind, error.message.lower()
    if kind == PAGE:
        return ModelUnavailable("Something else answered in place of the model, such as a proxy's page.")
    if kind == FOREIGN:
        return ModelMisconfigured(
            "Something else answers in place of the Messages API, such as a proxy. Check ANTHROPIC_BASE_URL."
        )
    if 300 <= error.status < 400:
        return ModelMisconfigured(
            "The model's server redirects to another address. Set ANTHROPIC_BASE_URL to that address."
        )
    if error.status < 400:
        return _cut_error(streamed) if kind in TRANSIENT or not kind else ModelError("The model reported an error.")
    if error.status in (429, 529) or kind in ("overloaded_error", "rate_limit_error"):
        return ModelThrottled(_seconds(error.retry_after))
    if error.status >= 500 or error.status in (408, 409):
        return ModelUnavailable("The model's server has a problem right now.")
    if error.status == 402 or kind == "billing_error" or "credit balance" in message:
        return OutOfCredit()
    if error.status in (401, 403):
        return ModelAccountError("The model's server does not accept the key. Check ANTHROPIC_API_KEY.")
    if error.status == 413 or TOO_LONG.search(message):
        return ContextTooLong()
    if error.status == 404:
        return ModelMisconfigured("The model's server does not know this model. Check RELAY_MODEL.")
    return ModelError("The model did not accept the request.")


def _seconds(header: str | None) -> float | None:
    try:
        told = float(header or 0)
    except ValueError:
        return None
    return told if 0 < told < math.inf else None
