"""Compositions: several sessions' versions together within a budget."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BeforeValidator, Field

from relay.commands.contexts import composition as commands
from relay.core.errors import NotFound
from relay.core.limits import COMPOSED_BUDGET, COMPOSED_PARTS, COMPOSITION_NAME_LENGTH, MOST_BUDGET
from relay.memory.rows.contexts.composition import ComposeRequest, PartAsked
from relay.surfaces.http.api.contexts.files import Format, download, downloads, listing_what_holds_it, sent
from relay.surfaces.http.api.contexts.names import (
    Budget,
    CompositionId,
    CompositionName,
    Name,
    ProjectId,
    VersionName,
    in_composition,
    in_project,
    number_of,
)
from relay.surfaces.http.api.contexts.records import CompositionLine, CompositionRecord
from relay.surfaces.http.api.contexts.versions import CompressionSettings
from relay.surfaces.http.api.paging import Page, paged
from relay.surfaces.http.caller import Reading, Writing, WritingRoute, begin_writing
from relay.surfaces.http.wire import WHOLE, Flag, Id, WireInput, WireModel, source, up_to

router = APIRouter(prefix="/memory", tags=["compositions"], route_class=WritingRoute)


class ComponentAsked(WireInput):
    """A session to compose. `versionId`: auto takes what fits best, new makes one; else `original` or a version."""

    session_id: Name
    version_id: Name = "auto"
    allocation: Annotated[int, Field(ge=1, le=MOST_BUDGET, strict=True), WHOLE] | None = None
    recompress_settings: CompressionSettings | None = None

    def part(self) -> tuple[int, PartAsked]:
        """Returns the session's number, and the rest as the command takes it. Raises `NotFound`."""
        number = number_of(self.session_id)
        if not number:
            raise NotFound(f"There's no session “{self.session_id}” here.")
        version = None if self.version_id == "auto" else self.version_id
        recompress = self.recompress_settings.given() if self.recompress_settings else None
        return number, PartAsked(version, self.allocation, recompress)


class CompositionAsked(WireInput):
    """Sessions to compose, in this order. `replaces`: the composition to make again. `preview`: only returns a
    preview."""

    name: Annotated[str, up_to(COMPOSITION_NAME_LENGTH)]
    components: Annotated[list[ComponentAsked], Field(min_length=1, max_length=COMPOSED_PARTS)]
    total_token_budget: Budget = COMPOSED_BUDGET
    strategy: Literal["equal", "recency", "proportional"] = "equal"
    output_format: Literal["markdown", "jsonl", "both"] | None = None
    replaces: Name | None = None
    preview: Flag = False

    def request(self) -> ComposeRequest:
        """Returns the request as the command takes it."""
        return ComposeRequest(
            name=self.name,
            parts=tuple(one.part() for one in self.components),
            budget=self.total_token_budget,
            strategy=self.strategy,
            format=self.output_format,
            in_order=True,
            replaces=number_of(self.replaces, "c") if self.replaces else None,
        )


class Choice(WireModel):
    """A version to choose from."""

    version_id: VersionName = source("name")
    tokens: int


class PlannedComponent(WireModel):
    """What would be included of a session. `estimate`: about how many tokens. `reason`: asked, fits, best or new.
    `since`: what its version lacks, such as 2 messages; empty: nothing."""

    session_id: Id
    title: str | None
    original_tokens: Annotated[int, BeforeValidator(lambda tokens: tokens or 0)] = source("tokens")
    version_id: VersionName = source("version")
    allocation: int | None
    estimate: int
    reason: str | None
    since: str = source("since.told")
    versions: list[Choice]


class CompositionPreview(WireModel):
    """What composing would do. `toMake`: how many versions would be made first."""

    total_token_budget: int = source("budget")
    total_tokens: int = source("total")
    to_make: int = source("new")
    components: list[PlannedComponent] = source("parts")


class CompositionMade(WireModel):
    """A requested composition."""

    composition_id: CompositionName = source("id")
    status: Literal["making", "ready", "over", "failed"]


class UsedComposition(WireModel):
    """The session that began with a composition."""

    composition_id: str
    session_id: str


@router.get("/projects/{projectId}/compositions", response_model=paged("compositions", CompositionLine))
async def list_all(ctx: Reading, page: Page, project_id: ProjectId) -> Any:
    """Lists a project's compositions, newest first."""
    there = await in_project(ctx, project_id)
    found = await commands.project_compositions(there, page.offset, page.limit)
    return page.page_of("compositions", found.compositions, found.total)


@router.post(
    "/projects/{projectId}/compositions",
    status_code=202,
    response_model=CompositionMade,
    responses={200: {"model": CompositionPreview}, 201: {"model": CompositionMade}},
)
async def make(
    request: Request, response: Response, ctx: Reading, project_id: ProjectId, body: CompositionAsked
) -> Any:
    """Composes sessions, or previews that. 200: a preview. 201: it is ready. 202: versions are made first."""
    there = await in_project(ctx, project_id)
    if body.preview:
        return sent(CompositionPreview.of(await commands.plan_composition(there, body.request())))
    async with begin_writing(there, request) as written:
        made = await commands.compose(written, body.request())
    response.status_code = 202 if made.status == "making" else 201
    return made


@router.get(
    "/compositions/{compositionId}", response_model=CompositionRecord, responses=downloads("md", "jsonl", "zip")
)
async def read(ctx: Reading, composition_id: CompositionId, format: Format = "json") -> Any:
    """Returns a composition, or its text as a file."""
    there, number = await in_composition(ctx, composition_id)
    if format == "json":
        return CompositionRecord.of_row(await commands.open_composition(there, number))
    return download(await commands.export_composition(there, number, format))


@router.delete("/compositions/{compositionId}", status_code=204)
async def drop(ctx: Writing, composition_id: CompositionId, force: bool = False) -> None:
    """Drops a composition. 409: a running conversation began with it; with `force` it keeps it until it ends."""
    there, number = await in_composition(ctx, composition_id)
    with listing_what_holds_it():
        await commands.drop_composition(there, number, force)


@router.post("/compositions/{compositionId}/use")
async def use(ctx: Writing, composition_id: CompositionId) -> UsedComposition:
    """Ends the running session of the composition's project, and begins one with the composition."""
    there, number = await in_composition(ctx, composition_id)
    used = await commands.use_composition(there, number)
    return UsedComposition(composition_id=composition_id, session_id=str(used.new.ended.session_id))
