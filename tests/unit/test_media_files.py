"""Downloads for reading: tried again, bounded, refused in a sentence; and how much is held at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from relay.clients.telegram import Telegram
from relay.errors import (
    MediaRefused,
    MessengerError,
    MessengerRefused,
    MessengerThrottled,
    MessengerUnavailable,
)
from relay.media.files import AT_ONCE, TRIES, Files, too_large
from relay.media.reading import Read, Reader
from relay.media.room import Room
from relay.models import Attachment
from relay.testing import FakeMessenger
from tests.standins.telegram import TelegramStandIn, Upload
from tests.standins.telegram.values import TEST_TOKEN

MB = 2**20


class Troubled(FakeMessenger):
    """Fails as it is told to, then gives the file."""

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


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses take no time; how long they were."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def short(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("relay.media.files.asyncio.sleep", short)
    return pauses


async def test_trouble_is_tried_again_within_bounds(quick: list[float]) -> None:
    messenger = Troubled([MessengerUnavailable(), MessengerThrottled(5), MessengerThrottled(900)])
    assert await Files(messenger, MB).get(attachment()) == b"content"
    assert messenger.asked == TRIES
    assert [pause for pause in quick if pause] == [pytest.approx(0.75, abs=0.3), 5, 30]


async def test_it_is_not_tried_for_ever(quick: list[float]) -> None:
    messenger = Troubled([MessengerUnavailable()] * 99)
    with pytest.raises(MediaRefused, match="send it again later"):
        await Files(messenger, MB).get(attachment())
    assert messenger.asked == TRIES


async def test_a_file_of_another_bot_or_one_that_is_gone_is_asked_for_once() -> None:
    messenger = Troubled([MessengerRefused("wrong file_id or the file is temporarily unavailable")] * 9)
    with pytest.raises(MediaRefused, match="does not give it to me any more"):
        await Files(messenger, MB).get(attachment())
    assert messenger.asked == 1


async def test_what_hangs_in_all_tries_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.media.files.SECONDS", 0.05)
    with pytest.raises(MediaRefused, match="send it again later"):
        await Files(Troubled([], pause=60), MB).get(attachment())


async def test_a_few_come_beside_each_other() -> None:
    messenger = Troubled([], pause=0.01)
    files = Files(messenger, MB)
    await asyncio.gather(*(files.get(attachment(number=n)) for n in range(20)))
    assert messenger.most_running == AT_ONCE


async def test_one_that_waits_for_another_try_holds_up_nobody() -> None:
    messenger = Troubled([MessengerThrottled(20)] * AT_ONCE)
    files = Files(messenger, MB)
    waiting = [asyncio.create_task(files.get(attachment(number=n))) for n in range(AT_ONCE)]
    await asyncio.sleep(0.01)
    assert await asyncio.wait_for(files.get(attachment(number=9)), 5) == b"content"
    for task in waiting:
        task.cancel()


async def test_a_file_that_is_told_to_be_too_large_is_not_asked_for() -> None:
    messenger = Troubled([])
    with pytest.raises(MediaRefused, match="2 MB; I can take 1 MB"):
        await Files(messenger, MB).get(attachment(size=MB + 1))
    assert messenger.asked == 0


@pytest.mark.parametrize(
    ("size", "most", "line", "hint"),
    [
        (30 * MB, 20 * MB, "30 MB; I can take 20 MB.", "TELEGRAM_API_URL"),
        (30 * MB, 40 * MB, "30 MB; I can take 20 MB.", "TELEGRAM_API_URL"),  # it was Telegram that refused
        (0, 40 * MB, "It is too large: I can take 20 MB.", "TELEGRAM_API_URL"),
        (50 * MB, 40 * MB, "50 MB; I can take 40 MB.", "RELAY_MAX_FILE_MB sets"),
        (8 * MB, 5 * MB, "8 MB; I can take 5 MB.", "RELAY_MAX_FILE_MB sets"),
    ],
)
def test_the_limit_is_told_with_what_lifts_it(size: int, most: int, line: str, hint: str) -> None:
    assert line in too_large(size, most)
    assert hint in too_large(size, most)


async def test_a_file_longer_than_it_was_told_to_be_is_cut_off_on_the_wire() -> None:
    async with TelegramStandIn() as tg:
        client = Telegram(TEST_TOKEN, tg.url)
        await client.open()
        try:
            files = Files(client, MB)
            grown = tg.add_file(Upload(b"x" * (3 * MB), "a.txt", size=10))
            with pytest.raises(MediaRefused, match="too large"):
                await files.get(Attachment("document", grown.id, "u", size=10))
            tg.fault("download", "500")
            whole = tg.add_file(Upload(b"hello", "a.txt"))
            assert await files.get(Attachment("document", whole.id, "u")) == b"hello"
            tg.fault("getFile", "error", description="Bad Request: file is too big")
            with pytest.raises(MediaRefused, match="TELEGRAM_API_URL"):
                await Files(client, 40 * MB).get(Attachment("document", whole.id, "u"))
        finally:
            await client.close_pools()


async def test_only_so_much_is_held_at_once_first_come_first_served() -> None:
    room, order, held, most = Room(100), [], 0, 0

    async def work(number: int, size: int) -> None:
        nonlocal held, most
        async with room.taken(size):
            order.append(number)
            held += min(size, 100)
            most = max(most, held)
            await asyncio.sleep(0.001)
            held -= min(size, 100)

    sizes = [60, 60, 10, 500, 1, 40, 40, 40]
    await asyncio.gather(*(work(number, size) for number, size in enumerate(sizes)))
    assert order == list(range(len(sizes)))
    assert most <= 100


async def test_who_gives_up_waiting_leaves_room_to_the_others() -> None:
    room = Room(10)
    async with room.taken(10):
        waiting = asyncio.create_task(room.taken(5).__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5), room.taken(10):
        pass


async def test_ten_large_files_of_one_message_are_not_held_together(monkeypatch: pytest.MonkeyPatch) -> None:
    held = most = 0

    class Kind:
        async def read(self, attachment: Attachment) -> Read:
            nonlocal held, most
            held += attachment.size
            most = max(most, held)
            await asyncio.sleep(0.001)
            held -= attachment.size
            return Read([], "")

    reader = Reader(Kind(), Kind(), Kind())
    await asyncio.gather(*(reader.read(attachment(20 * MB, number)) for number in range(10)))
    assert most == 40 * MB
