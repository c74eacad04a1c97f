"""The stand-in in its own process, so that its work isn't counted as the bot's."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp

from tests.standins.telegram.values import TEST_TOKEN

_ROOT = Path(__file__).parents[3]


class RemoteTelegram:
    """``async with RemoteTelegram() as tg``: ``tg.url``, and ``await tg.call("say", chat=…, …)``.

    Every control endpoint is also a method: ``await tg.say(chat=…, user=…, text=…)``. Results are plain JSON.
    """

    def __init__(self, token: str = TEST_TOKEN, port: int = 0) -> None:
        self.token = token
        self.port = port
        self._process: asyncio.subprocess.Process | None = None
        self._session: aiohttp.ClientSession | None = None

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id, for measurements."""
        assert self._process is not None
        return self._process.pid

    async def __aenter__(self) -> RemoteTelegram:
        command = [sys.executable, "-m", "tests.standins.telegram", "--port", str(self.port), "--token", self.token]
        self._process = await asyncio.create_subprocess_exec(*command, cwd=_ROOT, stdout=asyncio.subprocess.PIPE)
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), 15)
        self.port = int(line.decode().rsplit(":", 1)[1])
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=120))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            await self._process.wait()

    async def call(self, name: str, **arguments: Any) -> Any:
        """Make one control call. A refusal raises ``TimeoutError`` or ``RuntimeError``."""
        assert self._session is not None
        async with self._session.post(f"{self.url}/_control/{name}", json=arguments) as response:
            result = await response.json()
            if response.status == 504:
                raise TimeoutError(result["error"])
            if response.status != 200:
                raise RuntimeError(result["error"])
            return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def control(**arguments: Any) -> Any:
            return await self.call(name, **arguments)

        return control
