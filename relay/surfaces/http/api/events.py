"""Server-sent events for open pages."""

import contextlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from relay.commands.session.watch import Watch, look_for_changes
from relay.core.errors import DatabaseError
from relay.surfaces.http.caller import ApiCore, Reading, find_admitted, make_context, read_authorization, turn_of
from relay.surfaces.http.streams import Stream

router = APIRouter(tags=["events"])
LOOK_SECONDS = 2.5
ALIVE_LOOKS = 8
"""After this many looks, the stream sends a comment, so that proxies keep it open."""


async def open_stream(request: Request, ctx: Reading) -> AsyncIterator[Stream]:
    """Opens a stream, which counts until its response has ended."""
    core: ApiCore = request.app.state.core
    stream = core.streams.open(ctx.user_id)
    try:
        yield stream
    finally:
        core.streams.end(stream)


@router.get("/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
async def follow(request: Request, stream: Annotated[Stream, Depends(open_stream)]) -> StreamingResponse:
    """Sends an event when something changes that the person sees, in their own space or in a group: `memory`,
    `version`, `composition`, `reminder` or `preference`, each with {"at"}. The client then reads the data again. A
    person can have three streams. Another one ends the oldest, whose last event is `replaced`."""
    return StreamingResponse(
        _follow(request, stream), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _follow(request: Request, stream: Stream) -> AsyncIterator[str]:
    with contextlib.suppress(DatabaseError):  # the page opens the stream again
        async for news in _look(request, stream):
            yield news


async def _look(request: Request, stream: Stream) -> AsyncIterator[str]:
    yield ": hello\n\n"
    core: ApiCore = request.app.state.core
    _, token = read_authorization(request)
    watch, looks = Watch(), 0
    while True:
        caller = await find_admitted(core, token)
        if caller is None:
            return
        for subject in await look_for_changes(make_context(core, caller, turn_of(caller)), watch):
            yield tell(subject)
        if await stream.closes_within(LOOK_SECONDS):
            break
        if (looks := looks + 1) % ALIVE_LOOKS == 0:
            yield ": still here\n\n"
    if stream.replaced:
        yield tell("replaced")


def tell(subject: str) -> str:
    """Returns an event that happens now."""
    return f"event: {subject}\ndata: {json.dumps({'at': datetime.now(UTC).isoformat(timespec='seconds')})}\n\n"
