"""The Telegram stand-in with a crowd of people, as its own process. People write again as soon as they are answered.

They live inside the stand-in, so driving them costs no request. `POST /_bench/<name>` controls them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.standins.telegram.server import TelegramStandIn
from tests.standins.telegram.values import Upload

FIRST_USER = 2000
SYLLABLES = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "wi", "zo", "kan", "del", "mor"]
WORDS = [first + second + third for first in SYLLABLES for second in SYLLABLES for third in SYLLABLES[:6]]
ODDS = [1 / (rank + 50) for rank in range(len(WORDS))]
"""Word frequencies as in real language: few words are frequent, most are rare."""


class Crowd(TelegramStandIn):
    """People in private chats. A person is `busy` from a message until the bot's next message in that chat."""

    def __init__(self, **world: Any) -> None:
        super().__init__(**world)
        self.random = random.Random(1)
        self.talking: set[int] = set()
        self.said = 0
        self.answers: list[float] = []
        self.asked: dict[int, int] = {}
        self.handed: dict[int, float] = {}
        self.turns: list[tuple[float, float]] = []
        self.answered = asyncio.Event()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if not request.path.startswith("/_bench/"):
            return await super()._handle(request)
        body = await request.read()
        result = await getattr(self, "do_" + request.path.removeprefix("/_bench/"))(**json.loads(body or b"{}"))
        return web.json_response(result)

    def _finish(self, record: Any, result: Any) -> web.Response:
        response = super()._finish(record, result)
        if record.method == "getUpdates" and isinstance(result, list):
            for update in result:
                self.handed.setdefault(update["update_id"], record.finished_at)
        elif record.method == "sendMessage" and record.code == 200:
            self._heard(record.params["chat_id"], record.at)
        return response

    def _heard(self, chat_id: int, at: float) -> None:
        update_id = self.asked.pop(chat_id, None)
        if update_id is None:
            return
        self.answers.append(at)
        self.turns.append((self.handed.pop(update_id), at))
        self.answered.set()
        if chat_id in self.talking:
            self._keep(self._speak(chat_id))

    async def _speak(self, chat_id: int, text: str = "") -> None:
        self.said += 1
        text = text or f"{' '.join(self.random.choices(WORDS, ODDS, k=12))}?"
        await self.say(chat_id, chat_id, text)
        self.asked[chat_id] = next(reversed(self.queue.known))

    def latencies(self) -> list[float]:
        """Returns the seconds from each poll's answer until the reply arrived."""
        return [heard - handed for handed, heard in self.turns]

    async def do_people(self, count: int) -> int:
        """Adds this many people."""
        for number in range(count):
            self.dm(self.user(FIRST_USER + number, f"Person {number}"))
        return count

    async def do_one_by_one(
        self, messages: int, pause: float, user: int = FIRST_USER, texts: Sequence[str] = ()
    ) -> list[float]:
        """Makes one person send one message after the other. Returns the seconds from each poll's answer until the
        reply."""
        await self._quiet()
        self.turns.clear()
        for number in range(messages):
            self.answered.clear()
            await self._speak(user, texts[number] if texts else "")
            async with asyncio.timeout(60):
                await self.answered.wait()
            await asyncio.sleep(pause)
        return self.latencies()

    async def do_voice(self, file: str, notes: int) -> list[float]:
        """Makes one person send one voice note after the other. Returns the seconds until each answer."""
        await self._quiet()
        self.turns.clear()
        content = await asyncio.to_thread(Path(file).read_bytes)
        for _ in range(notes):
            self.answered.clear()
            await self.say(FIRST_USER, FIRST_USER, voice=Upload(content, "audio.oga", "audio/ogg"))
            self.asked[FIRST_USER] = next(reversed(self.queue.known))
            async with asyncio.timeout(120):
                await self.answered.wait()
        return self.latencies()

    async def do_album(self, files: list[str]) -> list[float]:
        """Makes one person send an album. Returns the seconds from the handout of its last part until the answer."""
        await self._quiet()
        self.turns.clear()
        self.answered.clear()
        album = f"album {len(self.answers)}"
        for number, file in enumerate(files):
            content = await asyncio.to_thread(Path(file).read_bytes)
            caption = "Which is best?" if number == 0 else ""
            await self.say(FIRST_USER, FIRST_USER, caption, media_group_id=album, photo=content)
        self.asked[FIRST_USER] = next(reversed(self.queue.known))
        async with asyncio.timeout(60):
            await self.answered.wait()
        return self.latencies()

    async def do_start(self, people: int) -> bool:
        """Makes this many people talk, each again as soon as they are answered."""
        await self._quiet()
        self.answers.clear()
        self.turns.clear()
        self.talking = set(range(FIRST_USER, FIRST_USER + people))
        for chat_id in self.talking:
            await self._speak(chat_id)
        return True

    async def do_count(self) -> dict[str, Any]:
        """Returns the number of answers so far."""
        return {"answers": len(self.answers), "now": time.monotonic(), "turns": self.turns[-2000:]}

    async def do_hush(self) -> bool:
        """Makes everybody stop once they are answered."""
        self.talking.clear()
        await self._quiet()
        return True

    async def _quiet(self) -> None:
        """Waits until everybody is answered, then clears the log, which would slow the server down."""
        async with asyncio.timeout(60):
            while self.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        self.log.clear()

    async def do_first(self, method: str, after: float) -> float:
        """Returns when the first request for a method arrived after a monotonic time."""
        calls = await self.wait_for(lambda: [r.at for r in self.log if r.method == method and r.at > after], timeout=30)
        return calls[0]


async def serve(port: int) -> None:
    """Serves until SIGTERM."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with Crowd(port=port) as crowd:
        print(crowd.url, flush=True)
        await ended.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve(parser.parse_args().port))
