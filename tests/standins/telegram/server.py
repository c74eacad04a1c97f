"""The HTTP server in front of the world, with faults, latency, the log, and stopping and starting."""

from __future__ import annotations

import asyncio
import json
import time
from email.utils import formatdate
from types import TracebackType
from typing import Any

from aiohttp import web

from tests.standins.telegram.control import answer_control
from tests.standins.telegram.faults import Fault
from tests.standins.telegram.methods import METHODS
from tests.standins.telegram.params import read_params
from tests.standins.telegram.people import People
from tests.standins.telegram.values import TEST_TOKEN, ApiError, Json, Record, Upload, bad_request
from tests.standins.telegram.webhook import deliver_to_webhook

_BAD_GATEWAY = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>\r\n"


class TelegramStandIn(People):
    """A Telegram Bot API on loopback.

    ``async with TelegramStandIn() as tg`` serves ``{tg.url}/bot<token>/<method>`` and
    ``{tg.url}/file/bot<token>/<path>``; ``**world`` are the arguments of ``World``.
    ``latency`` is added to every request (seconds); ``stopped`` refuses everything.
    """

    def __init__(self, token: str = TEST_TOKEN, port: int = 0, *, latency: float = 0.0, **world: Any) -> None:
        super().__init__(token, **world)
        self.port = port
        self.latency = latency
        self._stopped = False
        self.faults: list[Fault] = []
        self._runner: web.AppRunner | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._bot_path = f"/bot{token}/"
        self._file_path = f"/file/bot{token}/"

    @property
    def url(self) -> str:
        """The server's address. python-telegram-bot wants ``base_url=f"{url}/bot"``."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def stopped(self) -> bool:
        """Whether every request is hung up on, including the waiting poll."""
        return self._stopped

    @stopped.setter
    def stopped(self, stopped: bool) -> None:
        self._stopped = stopped
        if stopped:
            self.queue.interrupt(ApiError(500, "Internal Server Error: stopped"))

    async def __aenter__(self) -> TelegramStandIn:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen. The port stays the same from then on."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.stopped = False
        self._keep(deliver_to_webhook(self.queue))

    async def stop(self) -> None:
        """Close every connection and stop listening. The state stays."""
        self.stopped = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def restart(self) -> None:
        """Start again on the same port with the same state."""
        await self.stop()
        await self.start()

    def fault(
        self,
        method: str = "*",
        kind: str | int = "500",
        times: int = 1,
        chat_id: int | None = None,
        after: int = 0,
        **details: Any,
    ) -> Fault:
        """Order a fault. details: ``retry_after``, ``delay``, ``error_code``, ``description``."""
        fault = Fault(method, str(kind), times, chat_id, after, **details)
        self.faults.append(fault)
        return fault

    def clear_faults(self) -> None:
        """Cancel all faults."""
        self.faults.clear()

    def stats(self) -> Json:
        """Counts: requests, pending and acknowledged updates, messages, and faults that struck."""
        return {
            "requests": len(self.log),
            "pending": len(self.queue.pending),
            "acked": len(self.queue.acked),
            "dropped": len(self.queue.dropped),
            "messages": sum(len(chat.messages) for chat in self.chats.values()),
            "fault_hits": sum(fault.hits for fault in self.faults),
            "polling": self.queue.polling,
            "now": time.monotonic(),
        }

    def _keep(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        response = await self._route(request)
        if not response.prepared:
            response.headers["Date"] = formatdate(self.now, usegmt=True)
        return response

    async def _route(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if path.startswith("/_control/"):
            return await answer_control(self, path.removeprefix("/_control/"), request)
        if self.stopped:
            return _hang_up(request)
        if path.startswith(self._bot_path):
            return await self._serve(path.removeprefix(self._bot_path), request)
        if path.startswith(self._file_path):
            return await self._serve("download", request, path.removeprefix(self._file_path))
        if path.startswith(("/bot", "/file/bot")):
            return _respond(ApiError(401, "Unauthorized"))
        return _respond(ApiError(404, "Not Found"))

    async def _serve(self, name: str, request: web.Request, file_path: str | None = None) -> web.StreamResponse:
        """Read and log the request, apply a due fault, execute it, and answer."""
        method = METHODS[name.lower()][0] if name.lower() in METHODS else name
        method = "getUpdates" if name.lower() == "getupdates" else method
        record = Record(len(self.log), method, {}, time.monotonic())
        self.log.append(record)
        try:
            params, files = ({"file_path": file_path}, {}) if file_path else await read_params(request)
        except (ApiError, ValueError) as error:
            params, files = {}, {}
            outcome: Any = error if isinstance(error, ApiError) else bad_request("can't parse request")
            return self._finish(record, outcome)
        record.params = {**params, **{key: upload.name for key, upload in files.items()}} if files else params
        fault = next((fault for fault in self.faults if fault.strikes(method, params)), None)
        if self.latency:
            await asyncio.sleep(self.latency)
        if fault is not None:
            return await self._suffer(fault, request, record, params, files)
        response = self._finish(record, await self._carry_out(method, params, files))
        return _hang_up(request) if self._stopped else response

    async def _suffer(
        self, fault: Fault, request: web.Request, record: Record, params: Json, files: dict[str, Upload]
    ) -> web.StreamResponse:
        """Answer a request that a fault strikes."""
        record.fault = fault.kind
        if (refusal := fault.refusal()) is not None:
            return self._finish(record, refusal)
        if fault.kind == "disconnect":
            record.outcome = "disconnect"
            return _hang_up(request)
        if fault.kind == "timeout":
            record.outcome = "timeout"
            await self._keep(asyncio.sleep(3600))
            return _hang_up(request)
        if fault.kind == "lost":
            self._finish(record, await self._carry_out(record.method, params, files))
            return _hang_up(request)
        return await asyncio.shield(self._keep(self._later(fault.delay, record, params, files)))

    async def _later(self, delay: float, record: Record, params: Json, files: dict[str, Upload]) -> web.Response:
        """Execute the method after a delay, even if the client is gone by then."""
        await asyncio.sleep(delay)
        return self._finish(record, await self._carry_out(record.method, params, files))

    async def _carry_out(self, method: str, params: Json, files: dict[str, Upload]) -> Any:
        """The method's result, or the refusal (returned, not raised)."""
        try:
            if method == "getUpdates":
                return await self.queue.poll(params)
            if method == "download":
                file = self.file_paths.get(params["file_path"])
                return file.upload if file else ApiError(404, "Not Found")
            if (known := METHODS.get(method.lower())) is None:
                return ApiError(404, "Not Found")
            return known[1](self, params, files)
        except ApiError as error:
            return error

    def _finish(self, record: Record, result: Any) -> web.Response:
        """Record the outcome and make the response."""
        record.finished_at = time.monotonic()
        if isinstance(result, ApiError):
            record.outcome, record.code = result.description, result.code
        else:
            record.outcome, record.code, record.result = "ok", 200, result
        self.changed()
        return _respond(result)


def _respond(result: Any) -> web.Response:
    if isinstance(result, Upload):
        return web.Response(body=result.data, content_type="application/octet-stream")
    if not isinstance(result, ApiError):
        return web.Response(body=json.dumps({"ok": True, "result": result}).encode(), content_type="application/json")
    if result.code == 502:
        return web.Response(status=502, body=_BAD_GATEWAY, content_type="text/html")
    return web.Response(status=result.code, body=json.dumps(result.body()).encode(), content_type="application/json")


def _hang_up(request: web.Request) -> web.Response:
    """Close the connection without an answer."""
    if request.transport is not None:
        request.transport.close()
    return web.Response()
