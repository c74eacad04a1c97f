"""Downloads of files: retries, limits, refusals in a sentence, and how much is held at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from relay.clients.telegram.client import Telegram
from relay.core.errors import MediaRefused, MessengerError, MessengerRefused, MessengerThrottled, MessengerUnavailable
from relay.core.models import Attachment, Transcript
from relay.media.documents import Documents
from relay.media.files import AT_ONCE, HEARD, TRIES, Files, too_large
from relay.media.pictures import Pictures
from relay.media.prepared import new_cache
from relay.media.reading import Reader
from relay.media.room import Room
from relay.media.sounds import Sounds
from tests.standins.fakes import FakeMessenger
from tests.standins.telegram import TelegramStandIn, Upload
from tests.standins.telegram.values import TEST_TOKEN

MB = 2**20


class FailingMessenger(FakeMessenger):
    """Raises the given errors, then returns the file."""

    def __init__(self, errors: Sequence[MessengerError], pause: float = 0.0) -> None:
        super().__init__()
        self.errors = list(errors)
        self.pause = pause
        self.asked = self.running = self.most_running = 0

    async def fetch(self, file_id: str, most: int) -> bytes:
        self.asked += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self.pause)
            if self.errors:
                raise self.errors.pop(0)
            return b"content"
        finally:
            self.running -= 1


def attachment(size: int = 7, number: int = 0, kind: str = "document") -> Attachment:
    return Attachment(kind, f"file-{number}", f"unique-{number}", size=size)


async def got(files: Files, attachment: Attachment) -> bytes:
    async with files.open(attachment) as content:
        return content


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Skips pauses and records their lengths."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def short(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("relay.media.files.asyncio.sleep", short)
    return pauses


async def test_failed_downloads_are_retried_with_bounded_pauses(quick: list[float]) -> None:
    messenger = FailingMessenger([MessengerUnavailable(), MessengerThrottled(5), MessengerThrottled(900)])
    assert await got(Files(messenger, MB), attachment()) == b"content"
    assert messenger.asked == TRIES
    own, asked, most = [pause for pause in quick if pause]
    assert 0.5 <= own <= 1
    assert 5 <= asked <= 5.25
    assert 30 <= most <= 31.5


async def test_a_download_is_retried_a_limited_number_of_times(quick: list[float]) -> None:
    messenger = FailingMessenger([MessengerUnavailable()] * 99)
    with pytest.raises(MediaRefused, match="send it again later"):
        await got(Files(messenger, MB), attachment())
    assert messenger.asked == TRIES


async def test_a_download_that_telegram_refuses_is_not_retried() -> None:
    messenger = FailingMessenger([MessengerRefused("wrong file_id or the file is temporarily unavailable")] * 9)
    with pytest.raises(MediaRefused, match="can't get it from Telegram"):
        await got(Files(messenger, MB), attachment())
    assert messenger.asked == 1


async def test_a_download_that_hangs_in_all_attempts_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.media.files.SECONDS", 0.05)
    with pytest.raises(MediaRefused, match="send it again later"):
        await got(Files(FailingMessenger([], pause=60), MB), attachment())


async def test_a_limited_number_of_files_are_downloaded_at_once() -> None:
    messenger = FailingMessenger([], pause=0.01)
    files = Files(messenger, MB)
    await asyncio.gather(*(got(files, attachment(number=n)) for n in range(20)))
    assert messenger.most_running == AT_ONCE


async def test_a_download_waiting_for_a_retry_does_not_hold_up_the_others() -> None:
    messenger = FailingMessenger([MessengerThrottled(20)] * AT_ONCE)
    files = Files(messenger, MB)
    waiting = [asyncio.create_task(got(files, attachment(number=n))) for n in range(AT_ONCE)]
    await asyncio.sleep(0.01)
    assert await asyncio.wait_for(got(files, attachment(number=9)), 5) == b"content"
    for task in waiting:
        task.cancel()


async def test_a_file_declared_too_large_is_not_downloaded() -> None:
    messenger = FailingMessenger([])
    with pytest.raises(MediaRefused, match="2 MB; I can take 1 MB"):
        await got(Files(messenger, MB), attachment(size=MB + 1))
    assert messenger.asked == 0


@pytest.mark.parametrize(
    ("size", "most", "line", "hint"),
    [
        (30 * MB, 20 * MB, "30 MB; I can take 20 MB.", "TELEGRAM_API_URL"),
        (30 * MB, 40 * MB, "30 MB; I can take 20 MB.", "TELEGRAM_API_URL"),  # Telegram refused it
        (0, 40 * MB, "It's too large: I can take 20 MB.", "TELEGRAM_API_URL"),
        (50 * MB, 40 * MB, "50 MB; I can take 40 MB.", "RELAY_MAX_FILE_MB sets"),
        (8 * MB, 5 * MB, "8 MB; I can take 5 MB.", "RELAY_MAX_FILE_MB sets"),
    ],
)
def test_the_size_limit_error_says_how_to_raise_the_limit(size: int, most: int, line: str, hint: str) -> None:
    error = too_large(size, most)
    assert line in str(error)
    assert hint in str(error)
    assert error.plain.endswith(line)


async def test_a_download_longer_than_declared_is_cut_off() -> None:
    async with TelegramStandIn() as tg:
        client = Telegram(TEST_TOKEN, tg.url)
        await client.open()
        try:
            files = Files(client, MB)
            grown = tg.add_file(Upload(b"x" * (3 * MB), "a.txt", size=10))
            with pytest.raises(MediaRefused, match="too large"):
                await got(files, Attachment("document", grown.id, "u", size=10))
            tg.fault("download", "500")
            whole = tg.add_file(Upload(b"hello", "a.txt"))
            assert await got(files, Attachment("document", whole.id, "u")) == b"hello"
            tg.fault("getFile", "error", description="Bad Request: file is too big")
            with pytest.raises(MediaRefused, match="TELEGRAM_API_URL"):
                await got(Files(client, 40 * MB), Attachment("document", whole.id, "u"))
        finally:
            await client.close_pools()


async def held_at_once(room: Room, sizes: Sequence[int]) -> tuple[list[int], int]:
    """The order in which work of these sizes got room, and the most bytes held at once."""
    order, held, most = list[int](), 0, 0

    async def work(number: int, size: int) -> None:
        nonlocal held, most
        async with room.reserve(size):
            order.append(number)
            held += size
            most = max(most, held)
            await asyncio.sleep(0.001)
            held -= size

    await asyncio.gather(*(work(number, size) for number, size in enumerate(sizes)))
    return order, most


async def test_the_memory_for_files_is_limited_and_shared_in_order() -> None:
    order, most = await held_at_once(Room(240), [150, 150, 20, 200, 11, 120, 40, 40])
    assert order == list(range(8))
    assert most <= 200
    order, most = await held_at_once(Room(240), [10] * 20)
    assert order == list(range(20))
    assert most == 40


async def test_small_and_large_files_do_not_wait_for_each_other() -> None:
    room = Room(240)
    async with room.reserve(200), asyncio.timeout(5), room.reserve(10):
        pass
    async with AsyncExitStack() as small, asyncio.timeout(5):
        for _ in range(4):
            await small.enter_async_context(room.reserve(10))
        async with room.reserve(0):
            pass


async def test_a_cancelled_reservation_leaves_room_for_the_others() -> None:
    room = Room(240)
    async with room.reserve(200):
        waiting = asyncio.create_task(room.reserve(50).__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5), room.reserve(200):
        pass


class SlowEngine:
    """Extracts or transcribes until `done` is set, and counts the bytes that it holds."""

    def __init__(self) -> None:
        self.held = self.most = 0
        self.done = asyncio.Event()

    async def open(self, work: str, content: bytes, **options: object) -> tuple[dict[str, object], list[bytes]]:
        await self._work(content)
        return {"width": 1, "height": 1, "mime": "image/png", "frames": 1}, [b"small"]

    async def hear(self, recording: bytes, language: str = "") -> Transcript:
        await self._work(recording)
        return Transcript("words", "en", "fake")

    async def _work(self, content: bytes) -> None:
        self.held += len(content)
        self.most = max(self.most, self.held)
        await self.done.wait()
        self.held -= len(content)


def reader(messenger: FakeMessenger, extractor: SlowEngine, transcriber: SlowEngine) -> Reader:
    files, cache = Files(messenger, 20 * MB), new_cache()
    pictures = Pictures(files, extractor, 10**6, cache)
    sounds = Sounds(Files(messenger, 20 * MB, None, HEARD), pictures, transcriber, 20)
    return Reader(sounds, pictures, Documents(files, extractor, sounds, pictures, 100, cache))


async def test_long_recordings_do_not_hold_up_photos() -> None:
    messenger, extractor, transcriber = FakeMessenger(), SlowEngine(), SlowEngine()
    messenger.files = {f"file-{number}": bytes(20 * MB) for number in range(5)} | {"photo": bytes(50_000)}
    extractor.done.set()
    everything = reader(messenger, extractor, transcriber)
    kinds = ["voice", "video", "audio", "document"]
    long = [
        asyncio.create_task(everything.read(replace(attachment(20 * MB, number, kind), mime="audio/ogg")))
        for number, kind in enumerate(kinds)
    ]
    while not transcriber.held:  # noqa: ASYNC110
        await asyncio.sleep(0)
    photo = await asyncio.wait_for(everything.read(Attachment("photo", "photo", "photo", size=50_000)), 10)
    assert photo.blocks[0]["type"] == "image"
    assert not any(task.done() for task in long)
    transcriber.done.set()
    assert [(await task).text for task in long] == ["words"] * 4
    assert transcriber.most == 20 * MB, "one large recording is held at a time"


async def test_ten_large_files_of_one_message_are_not_held_together() -> None:
    messenger, extractor = FakeMessenger(), SlowEngine()
    messenger.files = {f"file-{number}": bytes(20 * MB) for number in range(10)}
    everything = reader(messenger, extractor, SlowEngine())
    tasks = [asyncio.create_task(everything.read(attachment(20 * MB, n, "photo"))) for n in range(10)]
    await asyncio.sleep(0.2)
    extractor.done.set()
    assert all([(await task).blocks for task in tasks])
    assert extractor.most == 40 * MB
