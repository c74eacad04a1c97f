"""The open event streams: three for each person, and at most half of the server's connections."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from relay.core.tasks import wait_for
from relay.surfaces.http.connection import MOST_CONNECTIONS
from relay.surfaces.http.problems import ApiError

MOST = 3
"""The most streams of one person. A browser opens six connections to a server for all its windows; the other three are
for requests."""
MOST_OF_ALL = MOST_CONNECTIONS // 2
"""The most streams of all people. A stream keeps its connection, so the other half stays free for requests."""


@dataclass(eq=False, slots=True)
class Stream:
    """An open stream."""

    user_id: int
    replaced: bool = False
    """A newer stream of the same person ended it."""
    _ending: asyncio.Event = field(default_factory=asyncio.Event)

    def close(self) -> None:
        """Ends it."""
        self._ending.set()

    async def closes_within(self, seconds: float) -> bool:
        """Waits until the stream is closed, at most this long. Returns whether it is closed."""
        return await wait_for(self._ending, seconds)


class Streams:
    """The open streams, oldest first. A fourth stream of a person replaces their oldest: they look at the newest page,
    and the oldest may have lost its network. If all places are taken, the person with the most streams loses their
    oldest one."""

    def __init__(self) -> None:
        self._open: list[Stream] = []
        self._closed = False

    def close(self) -> None:
        """Ends all streams, and every new one at once."""
        self._closed = True
        for stream in self._open:
            stream.close()

    def open(self, user_id: int) -> Stream:
        """Opens a stream for a person. Raises `ApiError` (429) if all places are taken and nobody has two streams."""
        if len(own := self._of(user_id)) >= MOST:
            self._replace(own[0])
        elif len(self._open) >= MOST_OF_ALL:
            most = max((self._of(one.user_id) for one in self._open), key=len)
            if len(most) < 2:
                raise ApiError(429, "too_many", "Too many pages are open now.", {"Retry-After": "60"})
            self._replace(most[0])
        stream = Stream(user_id)
        if self._closed:
            stream.close()
        self._open.append(stream)
        return stream

    def end(self, stream: Stream) -> None:
        """Frees the place of a stream."""
        if stream in self._open:
            self._open.remove(stream)

    def _of(self, user_id: int) -> list[Stream]:
        return [stream for stream in self._open if stream.user_id == user_id]

    def _replace(self, stream: Stream) -> None:
        stream.replaced = True
        stream.close()
        self.end(stream)
