"""Which streams of events are open: a few of each person, and half of all connections."""

from __future__ import annotations

import pytest

from relay.surfaces.http import streams
from relay.surfaces.http.problems import ApiError
from relay.surfaces.http.streams import MOST, Streams


async def test_a_persons_oldest_stream_makes_room() -> None:
    held = Streams()
    own = [held.open(1) for _ in range(MOST)]
    other = held.open(2)
    held.open(1)
    assert [stream.replaced for stream in (*own, other)] == [True, *[False] * MOST]
    assert await own[0].closes_within(0)
    held.end(own[0])
    held.end(own[1])
    held.open(1)
    assert [stream.replaced for stream in own[1:]] == [False] * (MOST - 1), "there was room"


async def test_when_all_places_are_taken_whoever_has_most_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_OF_ALL", 4)
    held = Streams()
    first = held.open(1)
    two = [held.open(2), held.open(2)]
    third = held.open(3)
    held.open(4)
    assert [stream.replaced for stream in (first, *two, third)] == [False, True, False, False]
    with pytest.raises(ApiError) as refused:
        held.open(5)
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "60"})
    held.end(first)
    held.open(5)


async def test_none_stays_open_when_the_server_stops() -> None:
    held = Streams()
    before = held.open(1)
    held.close()
    assert [await stream.closes_within(0) for stream in (before, held.open(2))] == [True, True]
    assert not before.replaced
