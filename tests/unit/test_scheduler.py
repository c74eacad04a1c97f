"""Work beside answering runs soon after a turn made it due, and not once for each turn."""

from __future__ import annotations

import asyncio
import gc

from relay import scheduler as scheduling
from relay.scheduler import Job, Scheduler
from relay.services import unswept


async def test_many_turns_at_once_are_one_look_and_the_last_of_them_is_seen(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 0.2)
    made, seen, looks = 0, 0, 0
    done = asyncio.Event()

    async def look() -> None:
        nonlocal seen, looks
        seen, looks = made, looks + 1
        if seen == 50:
            done.set()

    work = Scheduler([Job("work", look, minutes=60, soon=True), Job("other", asyncio.Event().wait, minutes=60)])
    work.start()
    try:
        for _ in range(50):
            made += 1
            work.write_soon()
            await asyncio.sleep(0.002)
        async with asyncio.timeout(10):
            await done.wait()
    finally:
        work.stop()
    assert looks < 25


async def test_a_lone_turn_does_not_wait(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 3600)
    ran = asyncio.Queue[None]()
    work = Scheduler([Job("work", lambda: ran.put(None), minutes=60, soon=True)])
    work.start()
    try:
        async with asyncio.timeout(10):
            await ran.get()
            work.write_soon()
            await ran.get()
    finally:
        work.stop()


def test_what_is_imported_at_the_start_is_not_looked_through_again():
    thing: list[object] = []
    thing.append(thing)
    try:
        with unswept():
            assert not gc.isenabled()
        assert gc.isenabled()
        assert not any(one is thing for one in gc.get_objects())
    finally:
        gc.unfreeze()
