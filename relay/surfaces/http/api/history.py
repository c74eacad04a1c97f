"""Search, the explanation of an answer, usage, and export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import StreamingResponse

from relay.archive.packed import pack
from relay.commands.history.search import search as run_search
from relay.commands.history.why import explain_turn
from relay.commands.memory.browse import export
from relay.commands.session.usage import UsageReport, usage
from relay.memory.rows.search import Hit
from relay.memory.rows.turns.why import Explanation
from relay.surfaces.http.api.contexts.files import downloads
from relay.surfaces.http.api.paging import Page
from relay.surfaces.http.caller import ApiCore, Reading
from relay.surfaces.http.problems import ApiError
from relay.surfaces.http.wire import GivenId, WireModel, wire, wire_of

router = APIRouter(tags=["history"])
CHUNK = 65_536


class Found(WireModel):
    """A page of what was found, best first. Words that match are between U+0002 and U+0003."""

    results: list[wire_of(Hit)]  # type: ignore[valid-type]
    total: int
    next: str | None


@router.get("/search", response_model=Found)
async def search(
    ctx: Reading, page: Page, q: Annotated[str, Query(description="The words and filters, as for /search.")]
) -> Any:
    """Searches everything that was said to the person, and what is remembered of it."""
    found = (await run_search(ctx, q, page.offset, page.limit)).page
    return page.page_of("results", found.found, found.total)


@router.get("/turns/{turnId}/why", response_model=wire(Explanation))
async def explain(ctx: Reading, turn_id: Annotated[GivenId, Path(alias="turnId")]) -> Explanation:
    """Explains an answer: what was in its prompt, what was left out, what it cost."""
    return await explain_turn(ctx, turn_id)


@router.get("/usage", response_model=wire(UsageReport))
async def show_usage(ctx: Reading, days: Annotated[int, Query(ge=1, le=90)] = 30) -> UsageReport:
    """Returns tokens, cost and the share of the cache by day, model and kind of work."""
    return await usage(ctx, days)


async def hold_export(request: Request, ctx: Reading) -> AsyncIterator[ApiCore]:
    """Lets a person have one export at a time, which counts until its response has ended."""
    core: ApiCore = request.app.state.core
    if ctx.user_id in core.exporting:
        raise ApiError(
            429, "too_many", "You're already downloading an export. Try again when it's done.", {"Retry-After": "10"}
        )
    core.exporting.add(ctx.user_id)
    try:
        yield core
    finally:
        core.exporting.discard(ctx.user_id)


@router.get("/export", response_class=StreamingResponse, responses=downloads("zip"))
async def export_all(ctx: Reading, core: Annotated[ApiCore, Depends(hold_export)]) -> StreamingResponse:
    """Returns everything that is known and was said, as an archive: a text to read and a file to import. A person gets
    one at a time."""
    wanted = await export(ctx)
    here = ctx.services.installation
    async with core.packing:
        archive = await pack(ctx.store, wanted, here.version, here.scratch, most=None)
    headers = {"Content-Disposition": f'attachment; filename="{wanted.name}"'}
    return StreamingResponse(_read(archive), media_type="application/zip", headers=headers)


def _read(archive: BinaryIO) -> Iterator[bytes]:
    with archive:
        yield from iter(lambda: archive.read(CHUNK), b"")
