"""The websocket that edge-tts talks to, and its faults."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from xml.etree import ElementTree

from aiohttp import WSMsgType, web

SITE = Path(__file__).parent / "site"
"""In a process's PYTHONPATH, with SPEECH_STANDIN_URL set, it directs edge-tts to this server."""
PATH = "/consumer/speech/synthesize/readaloud/edge/v1"
MP3 = (bytes.fromhex("fff364c4") + bytes(140)) * 84
"""Two seconds of silence: MPEG-2 layer III, 24 kHz, 48 kbit/s, mono, as the service sends it."""
FRAME = 720
BOUNDARY = {"Offset": 1_000_000, "Duration": 18_000_000, "text": {"Text": "Hello.", "Length": 6}}


@dataclass
class SpeechRequest:
    """The text to speak, and how."""

    text: str
    voice: str
    rate: str
    pitch: str


@dataclass
class SpeechStandIn:
    """``async with SpeechStandIn() as speech`` serves ``speech.url``.

    ``mode``: works; hangs (after the connection opens); stalls (after some audio); closes (early); refuses (403);
    garbage; noise (invalid audio); slow; endless.
    """

    mode: str = "works"
    asked: list[SpeechRequest] = field(default_factory=list)
    port: int = 0
    refused: int = 0
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a text was received."""
    _runner: web.AppRunner | None = None
    _go: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """The URL for edge-tts's constant ``WSS_URL``."""
        return f"ws://127.0.0.1:{self.port}{PATH}?TrustedClientToken=stand-in"

    async def __aenter__(self) -> SpeechStandIn:
        app = web.Application()
        app.router.add_get(PATH, self._talk)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def quiet(self) -> None:
        """Works again and forgets the received texts."""
        self.mode, self.asked, self._go = "works", [], asyncio.Event()

    def go_on(self) -> None:
        """Lets slow answers proceed."""
        self._go.set()

    async def _talk(self, request: web.Request) -> web.StreamResponse:
        signed = {"Sec-MS-GEC", "Sec-MS-GEC-Version", "ConnectionId"} <= request.query.keys()
        if self.mode == "refuses" or not signed:
            self.refused += 1
            return web.Response(status=403, headers={"Date": formatdate(usegmt=True)})
        socket = web.WebSocketResponse(autoping=self.mode != "hangs")
        await socket.prepare(request)
        config = await socket.receive_str(timeout=10)
        assert "Path:speech.config" in config
        assert json.loads(config.split("\r\n\r\n", 1)[1])["context"]["synthesis"]["audio"]["outputFormat"]
        self.asked.append(_asked(await socket.receive_str(timeout=10)))
        self.heard.set()
        if self.mode == "hangs":
            await asyncio.sleep(3600)
        if self.mode == "garbage":
            await socket.send_str("no headers at all")
            await socket.send_bytes(b"\x00")
            return socket
        await socket.send_str(_text("turn.start", {"context": {"serviceTag": "1"}}))
        await socket.send_str(_text("response", {"context": {}, "audio": {"type": "inline"}}))
        if self.mode == "closes":
            await socket.close()
            return socket
        await self._sound(socket)
        if not socket.closed:
            await socket.send_bytes(_binary(b"", last=True))
            boundary = {"Metadata": [{"Type": "SentenceBoundary", "Data": BOUNDARY}]}
            await socket.send_str(_text("audio.metadata", boundary))
            await socket.send_str(_text("turn.end", {}))
            await socket.receive(timeout=10)
        return socket

    async def _sound(self, socket: web.WebSocketResponse) -> None:
        content = b"no sound, sorry " * 400 if self.mode == "noise" else MP3
        for number, start in enumerate(range(0, len(content), FRAME)):
            if number == 3 and self.mode == "slow":
                await self._go.wait()
            if number == 3 and self.mode == "stalls":
                await asyncio.sleep(3600)
            await socket.send_bytes(_binary(content[start : start + FRAME]))
        while self.mode == "endless":
            await socket.send_bytes(_binary(MP3 * 20))
            message = await _at_once(socket)
            if message in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING, WSMsgType.ERROR):
                return


async def _at_once(socket: web.WebSocketResponse) -> WSMsgType | None:
    """Returns the type of a message that the client sent meanwhile, if any."""
    try:
        return (await socket.receive(timeout=0.001)).type
    except TimeoutError:
        return None


def _asked(frame: str) -> SpeechRequest:
    head, ssml = frame.split("\r\n\r\n", 1)
    assert "Path:ssml" in head
    root = ElementTree.fromstring(ssml)  # noqa: S314 — made by edge-tts
    space = "{http://www.w3.org/2001/10/synthesis}"
    voice = root.find(f"{space}voice")
    assert voice is not None
    prosody = voice.find(f"{space}prosody")
    assert prosody is not None
    name = re.search(r"\((.+), (.+)\)", voice.attrib["name"])
    assert name is not None
    return SpeechRequest(
        "".join(prosody.itertext()), f"{name[1]}-{name[2]}", prosody.attrib["rate"], prosody.attrib["pitch"]
    )


def _text(path: str, content: object) -> str:
    head = f"X-RequestId:1\r\nContent-Type:application/json; charset=utf-8\r\nPath:{path}"
    return f"{head}\r\n\r\n{json.dumps(content)}"


def _binary(content: bytes, last: bool = False) -> bytes:
    """Returns audio with its headers. The last frame is empty and has no content type."""
    kind = b"" if last else b"Content-Type:audio/mpeg\r\n"
    head = b"X-RequestId:1\r\n" + kind + b"X-StreamId:2\r\nPath:audio\r\n"
    return len(head).to_bytes(2, "big") + head + content
