"""Erasing in the chat: what is said of it is what was done."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from relay.testing import FakeMessenger
from relay.verbs.erase import delete_answers


async def test_all_that_can_be_deleted_is_tried() -> None:
    async def erase_posted(erasure_id: int, user_id: int) -> list[list[int]]:
        return [[9, number] for number in range(180)]

    messenger = FakeMessenger()
    house = SimpleNamespace(messenger=messenger)
    call: Any = SimpleNamespace(store=SimpleNamespace(erase_posted=erase_posted), user_id=9, house=house, message={})
    assert (await delete_answers(call, "1")).toast == "Deleted 180 messages of mine."
    assert len(messenger.calls) == 180
