"""The Telegram stand-in with people in it, as a process of its own: they write, edit, press and react at the pace of
people, in private chats, topics, groups and forums. `POST /_soak/<name>` steers them."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests import papers
from tests.benchmarks.crowd import FIRST_USER, ODDS, WORDS
from tests.pictures import picture
from tests.standins.telegram.server import TelegramStandIn
from tests.standins.telegram.values import Chat, StoredMessage, Upload

PRIVATE, WITH_TOPICS, GROUPS, FORUMS, TOPICS = 12, 8, 4, 2, 3
"""30 conversations: 12 in private chats, 8 in topics of these, 4 in groups of two, 6 in forums of one person."""
PATIENCE = 120.0
"""Seconds without an answer after which somebody stops waiting."""
MESSAGES, FILES, UPDATES = 150, 800, 500
"""How much it remembers: messages of a chat, files, updates."""
ACTS = {
    "short": 44, "long": 9, "teach": 8, "mention": 9, "look": 4, "command": 8, "press": 6, "edit": 4, "react": 3,
    "photo": 2, "document": 2, "new": 1,
}  # fmt: skip
"""What people do, and how often of 100 times."""
COMMANDS = ("/memory", "/search {}", "/why", "/usage", "/status", "/summary", "/sessions", "/settings", "/help")


@dataclass
class Place:
    """One line of conversation and who speaks there."""

    chat: Chat
    topic: int | None
    user: int
    others: bool = False
    """Whether the bot must be named there to answer."""
    said: StoredMessage | None = None
    waits: tuple[str, int, float] | None = None
    """For the answer to what (its kind, its update), and since when."""
    recent: deque[StoredMessage] = field(default_factory=lambda: deque(maxlen=12))


class Residents(TelegramStandIn):
    """Thirty conversations that go on for as long as they are let."""

    def __init__(self) -> None:
        super().__init__()
        self.random = random.Random(3)
        self.places: dict[tuple[int, int], Place] = {}
        self.handed: dict[int, float] = {}
        self.pressed: dict[str, int] = {}
        self.latencies: list[tuple[str, float]] = []
        self.counts: dict[str, int] = {}
        self.pace = 0.0

    def settle(self) -> None:
        """Lets everybody come, and opens the groups and topics."""
        users = [self.user(FIRST_USER + number, f"Person {number}").id for number in range(PRIVATE)]
        for number, user in enumerate(users):
            chat = self.dm(user)
            self._open(Place(chat, None, user))
            if number < WITH_TOPICS:
                self._open(Place(chat, self.topic(chat, self._words(2)), user))
        for number in range(GROUPS):
            pair = users[2 * number : 2 * number + 2]
            self._open(Place(self.group(-1_002_000_000_100 - number, "Group", pair), None, pair[0], others=True))
        for number in range(FORUMS):
            owner = users[-1 - number]
            chat = self.group(-1_002_000_000_200 - number, "Forum", [owner], forum=True)
            for _ in range(TOPICS):
                self._open(Place(chat, self.topic(chat, self._words(2), owner), owner))

    def _open(self, place: Place) -> None:
        self.places[place.chat.id, place.topic or 0] = place

    async def live(self) -> None:
        """Somebody does something every `pace` seconds on average, until it is cancelled."""
        while True:
            await asyncio.sleep(self.random.expovariate(1 / self.pace))
            self._forget()
            free = [place for place in self.places.values() if place.waits is None]
            if free:
                await self._act(self.random.choice(free))

    async def _act(self, place: Place) -> None:
        kind = self.random.choices([*ACTS], [*ACTS.values()])[0]
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind in ("press", "edit", "react"):
            getattr(self, f"_{kind}")(place)
        elif kind == "photo":
            content = picture("JPEG", self.random.choice((640, 1600)), 1200)
            await self._say(place, kind, self._words(6), photo=content)
        elif kind == "document":
            paragraphs = [papers.paragraph(self._words(80)) for _ in range(self.random.randint(2, 20))]
            file = Upload(papers.docx("".join(paragraphs)), f"{self._words(1)}.docx")
            await self._say(place, kind, self._words(6), document=file)
        else:
            await self._say(place, "command" if kind == "new" else kind, self._text(kind))

    def _text(self, kind: str) -> str:
        if kind == "command":
            return self.random.choice(COMMANDS).format(self._words(2))
        if kind == "new":
            return "/new"
        if kind == "teach":
            return f"{self._words(8)} ((say Good to know. [LEARN: Likes {self._words(3)}.]))"
        if kind == "mention":
            return f"{self._words(6)}. I {self.random.choice(('moved to', 'work for'))} {self._words(1)} this week."
        if kind == "look":
            return f"{self._words(6)} ((tool search_memory {json.dumps({'query': self._words(2)})}))"
        return self._words(self.random.randint(150, 500) if kind == "long" else self.random.randint(4, 18))

    def _words(self, number: int) -> str:
        return " ".join(self.random.choices(WORDS, ODDS, k=number))

    async def _say(self, place: Place, kind: str, text: str, **media: Any) -> None:
        name = f"@{self.bot.username}"
        if place.others:
            command, _, rest = text.partition(" ")
            text = f"{command}{name} {rest}".strip() if text.startswith("/") else f"{name} {text}"
        place.said = await self.say(place.chat, place.user, text, topic=place.topic, **media)
        place.waits = kind, next(reversed(self.queue.known)), time.monotonic()

    def _press(self, place: Place) -> None:
        """One of the buttons that the newest answers here have."""
        choices = [(message, data) for message in place.recent for data in message.buttons.values() if data]
        if choices:
            message, data = self.random.choice(choices)
            query = self.press(place.chat, place.user, message, data)
            self.pressed[query] = next(reversed(self.queue.known))

    def _edit(self, place: Place) -> None:
        if place.said and "text" in place.said.raw and not place.said.text.startswith("/"):
            self.edit(place.chat, place.said, f"{place.said.text} {self._words(2)}")

    def _react(self, place: Place) -> None:
        if place.recent:
            self.react(place.chat, place.user, self.random.choice(place.recent), self.random.choice("👍❤👎🔥"))

    def _finish(self, record: Any, result: Any) -> web.Response:
        response = super()._finish(record, result)
        if record.method == "getUpdates" and isinstance(result, list):
            for update in result:
                self.handed.setdefault(update["update_id"], record.finished_at)
        elif record.method == "answerCallbackQuery" and record.code == 200:
            update_id = self.pressed.pop(str(record.params["callback_query_id"]), None)
            self._measured("press", update_id, record.at)
        elif record.method in ("sendMessage", "sendPhoto", "sendDocument") and record.code == 200:
            self._heard(record)
        return response

    def _heard(self, record: Any) -> None:
        chat_id, topic = int(record.params["chat_id"]), int(record.params.get("message_thread_id") or 0)
        place = self.places.get((chat_id, topic))
        if place is None:
            return
        place.recent.append(self.message(chat_id, record.result["message_id"]))
        if place.waits is not None:
            self._measured(place.waits[0], place.waits[1], record.at)
            place.waits = None

    def _measured(self, kind: str, update_id: int | None, at: float) -> None:
        begun = self.handed.pop(update_id, None) if update_id is not None else None
        if begun is not None:
            self.latencies.append((kind, at - begun))

    def _forget(self) -> None:
        """Gives up what was never answered, and forgets what is old."""
        now = time.monotonic()
        for place in self.places.values():
            if place.waits and now - place.waits[2] > PATIENCE:
                self.counts["unanswered"] = self.counts.get("unanswered", 0) + 1
                place.waits = None
            topics = place.chat.topics
            for number in _oldest(place.chat.messages, MESSAGES):
                if number not in topics:
                    del place.chat.messages[number]
        for number in _oldest(self.queue.known, UPDATES):
            del self.queue.known[number]
            self.handed.pop(number, None)
        for name in _oldest(self.files, FILES):
            self.file_paths.pop(self.files.pop(name).path, None)
        for known in (self.log, self.queue.acked, self.queue.dropped, self.answers):
            known.clear()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if not request.path.startswith("/_soak/"):
            return await super()._handle(request)
        body = await request.read()
        result = await getattr(self, "do_" + request.path.removeprefix("/_soak/"))(**json.loads(body or b"{}"))
        return web.json_response(result)

    async def do_begin(self, seconds: float) -> bool:
        """Waits until the bot polls; from then on people live, at a pace of so many seconds."""
        await self.wait_polling(120)
        self.settle()
        self.pace = seconds
        self._keep(self.live())
        return True

    async def do_pace(self, seconds: float) -> bool:
        """From now on people live at this pace."""
        self.pace = seconds
        return True

    async def do_window(self) -> dict[str, Any]:
        """What was measured since the last time: the latencies; and how often people did what since the beginning."""
        measured, self.latencies = self.latencies, []
        waiting = sum(place.waits is not None for place in self.places.values())
        return {"latencies": measured, "done": self.counts, "waiting": waiting}


def _oldest(known: dict[Any, Any], most: int) -> list[Any]:
    """The keys that are beyond so many newer ones."""
    return list(itertools.islice(known, max(0, len(known) - most)))


async def serve() -> None:
    """Serves until SIGTERM."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with Residents() as people:
        print(people.url, flush=True)
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(serve())
