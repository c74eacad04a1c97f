"""Claude, or any server that speaks Anthropic's Messages API, through the `anthropic` package."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import structlog

from relay import metrics
from relay.clients.body import encoded
from relay.clients.streamed import Streamed
from relay.errors import (
    ContextTooLong,
    ModelAccountError,
    ModelError,
    ModelMisconfigured,
    ModelThrottled,
    ModelUnavailable,
    OutOfCredit,
    StreamCut,
)
from relay.memory.redact import redact
from relay.models import ModelRequest, Step

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

log = structlog.get_logger()

CHECK_SECONDS = 40.0
"""A server of one's own may have to load the model first."""
TRANSIENT = ("overloaded_error", "rate_limit_error", "api_error", "timeout_error")


class Claude:
    """The `Model` port. The package is imported at first use (it takes two seconds on a small machine)."""

    def __init__(self, api_key: str, base_url: str, timeout: float) -> None:
        """`timeout`: seconds without a byte after which a call counts as hung."""
        self._key = api_key
        self._url = base_url
        self._timeout = timeout
        self._client: AsyncAnthropic | None = None
        self._opening = asyncio.Lock()

    async def warm(self) -> AsyncAnthropic:
        """The client; the first time its package is imported, off the event loop."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)
            return self._client

    def _open(self) -> AsyncAnthropic:
        import httpx2
        from anthropic import AsyncAnthropic, DefaultAioHttpClient

        timeout = httpx2.Timeout(self._timeout, connect=10)
        client = AsyncAnthropic(
            api_key=self._key or "none",
            base_url=self._url,
            max_retries=0,
            timeout=timeout,
            # Whoever else it may send us to gets no word of a conversation.
            http_client=DefaultAioHttpClient(timeout=timeout, follow_redirects=False),
        )
        _ = client.messages
        return client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def check(self, model: str) -> None:
        """Whether the model answers with this key: asks for one token, for of an account without credit nothing less
        tells. Raises the `ModelError` tree.
        """
        client = await self.warm()
        from anthropic import AnthropicError

        nothing = Streamed(lambda _: None)
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await client.messages.create(model=model, max_tokens=1, messages=[{"role": "user", "content": "Hi"}])
        except (AnthropicError, ValueError, LookupError, OSError) as error:
            raise _translate(error, nothing) from None
        except Exception as error:
            if type(error).__module__.startswith(("httpx2", "aiohttp")):
                raise _translate(error, nothing) from None
            raise

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`."""
        try:
            step = await self._reply(request, on_text)
        except ModelError as error:
            metrics.ERRORS.add("model", type(error).__name__)
            if isinstance(error, StreamCut):
                metrics.tokens(request.model, error.usage)
            raise
        metrics.tokens(request.model, step.usage)
        return step

    async def _reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        client = await self.warm()
        from anthropic import AnthropicError

        streamed = Streamed(on_text, usage=request.used)
        first_token = metrics.first("model_first_token")
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self._timeout) as silence, await _stream(client, request) as stream:
                async for event in stream:
                    silence.reschedule(now() + self._timeout)
                    streamed.take(event)
                    if streamed.blocks:
                        first_token()
        except (AnthropicError, ValueError, LookupError, OSError) as error:
            raise _translate(error, streamed) from None
        except Exception as error:
            if type(error).__module__.startswith(("httpx2", "aiohttp")):
                raise _translate(error, streamed) from None
            raise
        finally:
            streamed.count_heard()
        if streamed.stop_reason is None:
            raise _cut(streamed)
        return Step(
            blocks=streamed.plain(), stop_reason=streamed.stop_reason, usage=streamed.usage, model=streamed.model
        )


async def _stream(client: AsyncAnthropic, request: ModelRequest) -> AsyncStream[Any]:
    """The events of a call as plain JSON: `messages.stream` would make two models of each."""
    from anthropic import AsyncStream

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
    return await client.post(
        "/v1/messages", content=encoded(body), cast_to=object, stream=True, stream_cls=AsyncStream[object]
    )


def _cut(streamed: Streamed) -> ModelUnavailable:
    """A broken stream: with what had come, when something had."""
    if not streamed.blocks:
        return ModelUnavailable("The connection to the model broke off.")
    blocks: list[dict[str, object]] = streamed.plain()
    return StreamCut(blocks, streamed.usage, streamed.model)


def _translate(error: Exception, streamed: Streamed) -> ModelError:
    from anthropic import APIStatusError

    if not isinstance(error, APIStatusError):
        log.warning("model call broke off", error=type(error).__name__, begun=bool(streamed.model))
        return ModelUnavailable("I couldn't reach the model.") if _is_unreached(error) else _cut(streamed)
    told = redact(error.api_message or "")[:500]
    log.warning("model call refused", status=error.status_code, type=error.type, told=told)
    kind, message = error.type or "", (error.api_message or "").lower()
    if 300 <= error.status_code < 400:
        return ModelMisconfigured("The model's server sends me to another address. Put that into ANTHROPIC_BASE_URL.")
    if error.status_code < 400:
        return _cut(streamed) if kind in TRANSIENT or not kind else ModelError("The model reported an error.")
    if error.status_code in (429, 529) or kind in ("overloaded_error", "rate_limit_error"):
        return ModelThrottled(_seconds(error.response.headers.get("retry-after")))
    if error.status_code >= 500 or error.status_code in (408, 409):
        return ModelUnavailable("The model's server has a problem right now.")
    if error.status_code == 402 or kind == "billing_error" or "credit balance" in message:
        return OutOfCredit()
    if error.status_code in (401, 403):
        return ModelAccountError("The model's server does not accept the key. Check ANTHROPIC_API_KEY.")
    if error.status_code == 413 or "prompt is too long" in message or ("context" in message and "exceed" in message):
        return ContextTooLong()
    if error.status_code == 404:
        return ModelMisconfigured("The model's server does not know this model. Check RELAY_MODEL.")
    return ModelError("The model did not accept the request.")


def _is_unreached(error: BaseException | None) -> bool:
    """Whether a call failed before there was a connection: no address, refused, no route, no TLS. What the package
    raises has the client's own error as its cause."""
    while error is not None:
        if type(error).__name__ in ("ConnectError", "ConnectTimeout", "ClientConnectorError"):
            return True
        error = error.__cause__
    return False


def _seconds(header: str | None) -> float | None:
    try:
        return float(header) if header else None
    except ValueError:
        return None
