"""A Relay inside this process with speech to text. The test decides what is said in a recording."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from relay.clients.processes.file_extractor import FileExtractor
from relay.core.errors import MediaRefused
from relay.core.models import ModelRequest, Sound, Transcript
from relay.core.settings import Settings
from relay.runtime.media import make_reader
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker
from tests.integration.conftest import Server
from tests.integration.inside import Inside, inside
from tests.integration.turn_driver import ADA, BEN
from tests.standins.telegram.values import Chat, StoredMessage, Upload

Json = dict[str, Any]


@dataclass
class FakeSpeechToText:
    """The `SpeechToText` port. The bytes of a recording are its words. It keeps listening while `open` isn't set."""

    seconds: float = 4.0
    cut: bool = False
    listened: list[str] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.open.set()

    async def hear(self, recording: bytes) -> Transcript:
        """See `ports.SpeechToText.hear`."""
        self.listened.append(recording.decode())
        await self.open.wait()
        if not recording.strip():
            raise MediaRefused("I heard nobody speak in it.")
        return Transcript(recording.decode(), "en", "fake tiny", self.seconds, self.cut)


@dataclass
class FakeVoice:
    """The `TextToSpeech` port. It records what it said."""

    said: list[str] = field(default_factory=list)

    async def speak(self, text: str, language: str = "") -> Sound:
        """See `ports.TextToSpeech.speak`."""
        self.said.append(text)
        return Sound(b"OggS" + text.encode(), "audio/ogg", 2)


def answers(request: ModelRequest) -> list[Json]:
    """Repeats the words of the current message, and learns where a person lives."""
    said = " | ".join(block["text"] for block in request.messages[-1]["content"][:-1])
    place = said.partition("live in ")[2].split(" ")[0].strip(".|")
    return [{"type": "text", "text": f"You said: {said}" + (f"\n[LEARN: Lives in {place}]" if place else "")}]


@dataclass
class Listening:
    """Such a Relay, with Ada's private chat."""

    relay: Inside
    ears: FakeSpeechToText
    requests: list[ModelRequest]
    dm: Chat
    voice: FakeVoice | None = None

    async def speak(self, words: str, chat: Chat | None = None, user: int = ADA, **more: Any) -> StoredMessage:
        """Sends a voice note."""
        note = Upload(words.encode(), "note.oga", "audio/ogg", 4)
        return await self.relay.tg.say(chat or self.dm, user, voice=note, **more)

    def told(self, chat: Chat | None = None) -> list[str]:
        """Returns the texts of the bot's messages in a chat."""
        return [message.text for message in self.mine(chat)]

    def mine(self, chat: Chat | None = None) -> list[StoredMessage]:
        return [message for message in self.relay.tg.messages(chat or self.dm) if message.from_bot]

    async def settled(self) -> None:
        await self.relay.settled()

    async def heard(self, words: str) -> None:
        """Waits until the bot listens to a recording."""
        await self.relay.tg.wait_for(lambda: self.ears.listened.count(words), 30)

    async def dies(self) -> None:
        """Stops the worker in the middle of its work, and releases what it held."""
        await self.relay.worker.close(0)
        await self.relay.store.release()

    @contextlib.asynccontextmanager
    async def follower(self) -> AsyncIterator[None]:
        """Runs another worker that takes over."""
        relay, old = self.relay, self.relay.worker
        reader, _ = make_reader(Settings(), relay.wire, FileExtractor(), self.ears)
        media = TurnMedia(reader, self.voice)
        relay.worker = Worker(old.engine, old._services, old.connection, media, lambda _: None, 16)
        working = asyncio.create_task(relay.worker.run())
        try:
            yield
        finally:
            working.cancel()
            await relay.worker.close(5)


@contextlib.asynccontextmanager
async def listening(server: Server, voice: FakeVoice | None = None) -> AsyncIterator[Listening]:
    """Runs a Relay that hears, and speaks with `voice`."""
    requests: list[ModelRequest] = []

    def model(request: ModelRequest) -> list[Json]:
        requests.append(request)
        return answers(request)

    ears = FakeSpeechToText()
    async with inside(server, model, frozenset(), frozenset([ADA, BEN]), ears=ears, voice=voice) as relay:
        yield Listening(relay, ears, requests, relay.tg.dm(relay.tg.user(ADA, "Ada")), voice)
