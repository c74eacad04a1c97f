"""One session: its record, its messages, its markers."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from relay.commands.contexts import keepit as commands
from relay.commands.contexts.projects import preview_decay, read_original, read_record
from relay.commands.memory.access import GONE
from relay.core.errors import NotFound
from relay.memory.contexts.markers import round_weight
from relay.memory.contexts.settings import LEAST_RATIO, MOST_RATIO, Level
from relay.memory.rows.contexts.markers import Keepit
from relay.surfaces.http.api.contexts.names import (
    MarkerId,
    MarkerName,
    MessageName,
    Name,
    SessionId,
    in_session,
    number_of,
)
from relay.surfaces.http.api.contexts.records import Marker, SessionRecord
from relay.surfaces.http.api.paging import Page, paged
from relay.surfaces.http.caller import Reading, Writing, WritingRoute
from relay.surfaces.http.wire import WHOLE, WireInput, WireModel, source

router = APIRouter(prefix="/memory", tags=["sessions"], route_class=WritingRoute)

Weight = Annotated[float, Field(ge=0, le=1, strict=True)]
Aggressiveness = Literal["light", "minimal", "moderate", "aggressive"]


class Message(WireModel):
    """A message as it was said."""

    message_uuid: MessageName = source("id")
    role: str
    name: str | None
    text: str
    at: datetime
    untrusted: bool
    """Whether others wrote some of it."""


class NewMarker(WireInput):
    """A passage to keep. `messageUuid`: m123, as in the list of messages. `text`: empty for the whole message."""

    message_uuid: Name
    weight: Weight
    text: Annotated[str, Field(max_length=20_000)] = ""


class NewWeight(WireInput):
    """The new weight of a marker."""

    weight: Weight


class DecayAsked(WireInput):
    """A compression whose markers to judge. By default, the level is that of the ratio and the distance that of the
    session."""

    session_id: Name
    compression_ratio: Annotated[int, Field(ge=LEAST_RATIO, le=MOST_RATIO, strict=True), WHOLE]
    aggressiveness: Aggressiveness | None = None
    session_distance: Annotated[int, Field(ge=1, le=1_000_000, strict=True), WHOLE] | None = None


class JudgedMarker(WireModel):
    """A marker, and whether it survives."""

    marker_id: MarkerName = source("id")
    weight: float
    survives: bool


class FullyJudgedMarker(JudgedMarker):
    """A judged marker with its words. `margin`: by how much its weight is above the threshold."""

    content: str
    margin: float


class DecayShown(WireModel):
    """Which markers survive: those with at least the threshold, which is 1 at most, and pinned ones."""

    markers: list[FullyJudgedMarker | JudgedMarker]
    threshold: float


@router.get("/sessions/{sessionId}")
async def show_session(ctx: Reading, session_id: SessionId) -> SessionRecord:
    """Returns a session with its markers and versions."""
    there, number = await in_session(ctx, session_id)
    return SessionRecord.of_row(await read_record(there, number))


@router.get("/sessions/{sessionId}/messages", response_model=paged("messages", Message))
async def list_messages(
    ctx: Reading,
    page: Page,
    session_id: SessionId,
    after: Annotated[str | None, Query(pattern="^m[0-9]{1,18}$", description="Only messages after this one.")] = None,
) -> Any:
    """Lists a session's messages as they were said, oldest first. `after` is for the first page; pass `next` alone."""
    there, number = await in_session(ctx, session_id)
    since = None if after is None or page.offset else int(after[1:])
    found = await read_original(there, number, page.offset, page.limit, since)
    here = dataclasses.replace(page, offset=found.offset or page.offset)
    return here.page_of("messages", found.messages, found.total)


@router.get("/sessions/{sessionId}/keepits", response_model=paged("markers", Marker))
async def list_markers(ctx: Reading, page: Page, session_id: SessionId) -> Any:
    """Lists a session's markers, the most important first."""
    there, number = await in_session(ctx, session_id)
    found = await commands.keepits(there, number, page.offset, page.limit)
    return page.page_of("markers", found.keepits, found.total)


@router.post("/sessions/{sessionId}/keepits", status_code=201, response_model=Marker)
async def keep(ctx: Writing, session_id: SessionId, body: NewMarker) -> Keepit:
    """Marks a passage of a message. One that is marked already gets this weight."""
    there, number = await in_session(ctx, session_id)
    passage = commands.Passage(message_id=number_of(body.message_uuid, "m"), session_id=number, text=body.text)
    done = await commands.keep_passage(there, passage, round_weight(Decimal(str(body.weight))), "http")
    return commands.require_marker(done)


@router.put("/sessions/{sessionId}/keepits/{markerId}", response_model=Marker)
async def weigh(ctx: Writing, session_id: SessionId, marker_id: MarkerId, body: NewWeight) -> Keepit:
    """Changes a marker's weight. Its message and the versions that were made before don't change."""
    there, number = await find_marker(ctx, session_id, marker_id)
    return commands.require_marker(await commands.weigh_keepit(there, number, round_weight(Decimal(str(body.weight)))))


@router.delete("/sessions/{sessionId}/keepits/{markerId}", status_code=204)
async def remove(ctx: Writing, session_id: SessionId, marker_id: MarkerId) -> None:
    """Removes a marker. Versions that were made before keep what they hold."""
    there, number = await find_marker(ctx, session_id, marker_id)
    await commands.remove_keepit(there, number)


async def find_marker(ctx: Reading, session_id: str, marker_id: str) -> tuple[Reading, int]:
    """Returns the context of a session's conversation, and the number of its marker. Raises `NotFound`."""
    there, session = await in_session(ctx, session_id)
    number = number_of(marker_id, "p")
    found = (await commands.open_keepit(there, number)).keepit
    if found.session_id != session or found.removed:
        raise NotFound(GONE)
    return there, number


@router.post("/decay/preview")
async def judge(ctx: Reading, body: DecayAsked, full: bool = False) -> DecayShown:
    """Says which markers of a session would survive a compression. `full`: with their words and margins."""
    there, number = await in_session(ctx, body.session_id)
    level: Level | None = "light" if body.aggressiveness == "minimal" else body.aggressiveness
    found = await preview_decay(there, number, body.compression_ratio, level, body.session_distance)
    shown = [
        FullyJudgedMarker.of(one, margin=one.weight - found.threshold) if full else JudgedMarker.of(one)
        for one in found.markers
    ]
    return DecayShown(markers=shown, threshold=float(min(found.threshold, Decimal(1))))
