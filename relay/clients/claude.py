"""Claude, or any server that speaks Anthropic's Messages API, through the `anthropic` package."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from relay.errors import (
    ContextTooLong,
    ModelAccountError,
    ModelError,
    ModelThrottled,
    ModelUnavailable,
    StreamCut,
)
from relay.models import Block, ModelRequest, Step

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.lib.streaming import AsyncMessageStream

KINDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
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
            http_client=DefaultAioHttpClient(timeout=timeout),
        )
        _ = client.messages
        return client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`."""
        client = await self.warm()
        from anthropic import AnthropicError

        arguments: dict[str, Any] = {"tools": request.tools} if request.tools else {}
        stream: AsyncMessageStream[Any] | None = None
        try:
            async with client.messages.stream(
                model=request.model,
                max_tokens=request.max_tokens,
                system=request.system,  # type: ignore[arg-type]  # blocks travel as plain dicts
                messages=request.messages,  # type: ignore[arg-type]
                **arguments,
            ) as stream:
                async for event in stream:
                    if event.type == "text":
                        on_text(event.text)
                message = stream.current_message_snapshot
        except (AnthropicError, ValueError, AssertionError, OSError) as error:
            raise _translate(error, stream) from None
        except Exception as error:
            if type(error).__module__.startswith(("httpx2", "aiohttp")):
                raise _translate(error, stream) from None
            raise
        if message.stop_reason is None:
            raise _cut(stream)
        return Step(
            blocks=[_plain(block) for block in message.content],
            stop_reason=message.stop_reason,
            usage=_usage(message.usage),
            model=message.model,
        )


def _plain(block: Any) -> Block:
    plain: Block = block.model_dump(mode="json", exclude_none=True, exclude={"parsed_output"})
    return plain


def _usage(usage: Any) -> dict[str, int]:
    return {kind: getattr(usage, kind, None) or 0 for kind in KINDS}


def _snapshot(stream: Any) -> Any:
    try:
        return stream.current_message_snapshot if stream is not None else None
    except AssertionError:
        return None


def _cut(stream: Any) -> ModelUnavailable:
    """A broken stream: with what had come, when something had."""
    message = _snapshot(stream)
    if message is None or not message.content:
        return ModelUnavailable("The connection to the model broke off.")
    blocks: list[dict[str, object]] = [_plain(block) for block in message.content]
    return StreamCut(blocks, _usage(message.usage), message.model)


def _translate(error: Exception, stream: Any) -> ModelError:
    from anthropic import APIStatusError

    if not isinstance(error, APIStatusError):
        return _cut(stream)
    kind, message = error.type or "", (error.api_message or "").lower()
    if error.status_code < 400:
        return _cut(stream) if kind in TRANSIENT or not kind else ModelError("The model reported an error.")
    if error.status_code in (429, 529) or kind in ("overloaded_error", "rate_limit_error"):
        return ModelThrottled(_seconds(error.response.headers.get("retry-after")))
    if error.status_code >= 500 or error.status_code in (408, 409):
        return ModelUnavailable("The model's server has a problem right now.")
    if error.status_code == 402 or kind == "billing_error" or "credit balance" in message:
        return ModelAccountError("The model's account is out of credit. Its owner can top it up in the console.")
    if error.status_code in (401, 403):
        return ModelAccountError("The model's server does not accept the key. Check ANTHROPIC_API_KEY.")
    if error.status_code == 413 or "prompt is too long" in message or ("context" in message and "exceed" in message):
        return ContextTooLong()
    if error.status_code == 404:
        return ModelError("The model's server does not know this model. Check RELAY_MODEL.")
    return ModelError("The model did not accept the request.")


def _seconds(header: str | None) -> float | None:
    try:
        return float(header) if header else None
    except ValueError:
        return None
