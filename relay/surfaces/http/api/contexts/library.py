"""The sessions of a memory as a whole: settings, storage, search, suggestions, links."""

from __future__ import annotations

from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, RootModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from relay.commands.contexts.library import link_session, storage_statistics, suggest, unlink_session
from relay.commands.contexts.space_settings import merge_settings, show_settings
from relay.commands.history.session_search import FoundInSession, conditions_of, search_sessions
from relay.core.limits import COMPOSED_BUDGET, REASON_LENGTH
from relay.memory.contexts.markers import round_weight
from relay.memory.contexts.space_settings import ContextSettings
from relay.memory.rows.contexts.library import StorageStatistics
from relay.memory.rows.search import SearchQuery, Weights
from relay.surfaces.http.api.contexts.names import (
    Budget,
    Name,
    SomeProject,
    VersionName,
    formatted,
    in_project,
    number_of,
)
from relay.surfaces.http.api.contexts.records import Registered
from relay.surfaces.http.api.paging import Page, paged
from relay.surfaces.http.caller import Reading, Writing, WritingRoute
from relay.surfaces.http.wire import GivenTime, Id, WireInput, WireModel, source, wire

router = APIRouter(prefix="/memory", tags=["library"], route_class=WritingRoute)

Words = Annotated[str, Field(max_length=4_000)]
Part = Annotated[str, Field(min_length=1, max_length=200)]
"""A part of a name."""


class SuggestionAsked(WireInput):
    """The topic of a new conversation. `budget`: tokens for all suggested versions together."""

    query: Words
    budget: Budget = COMPOSED_BUDGET
    project_id: Name | None = None


class SuggestedSession(WireModel):
    """A past session that fits. Without a version it is its original; `make`: a version would have to be made."""

    session_id: Id
    title: str | None
    opening: str | None = source("first")
    version_id: VersionName | None = source("version")
    relevance_score: float = source("score")
    matched_topics: list[str] = source("topics")
    matched_files: list[str] = source("files")
    suggested_tokens: int = source("tokens")
    make: bool
    linked: str | None
    registered: Registered
    last_used: datetime = source("used_at")


class Suggestions(WireModel):
    """Past sessions that fit, best first."""

    suggestions: list[SuggestedSession]


class LinkAsked(WireInput):
    """A session to link to another project of the same memory."""

    session_id: Name
    project_id: Name
    reason: Annotated[str, Field(max_length=REASON_LENGTH)] = ""


class Link(WireModel):
    """A session linked to another project."""

    link_id: str
    session_id: str
    project_id: str
    reason: str


class SearchAsked(WireModel):
    """The conditions of a search, which must all hold. `files` and `topics`: parts of names; `start` and `end`: when it
    was said; `min` and `max`: the weight of a marker in it."""

    text: Annotated[str, Field(max_length=1_000)] = ""
    files: Annotated[list[Part], Field(default_factory=list, max_length=8)]
    topics: Annotated[list[Part], Field(default_factory=list, max_length=8)]
    start: GivenTime[datetime] | None = None
    end: GivenTime[datetime] | None = None
    min: Annotated[Decimal | None, Field(ge=0, le=1)] = None
    max: Annotated[Decimal | None, Field(ge=0, le=1)] = None
    kind: Literal["message", "summary", "version"] | None = None
    project_id: SomeProject = None

    def as_query(self, zone: tzinfo) -> SearchQuery:
        """Returns the query. Times without a zone are in this one."""
        weights = None
        if self.min is not None or self.max is not None:
            lowest, highest = (Decimal(else_) if one is None else one for one, else_ in ((self.min, 0), (self.max, 1)))
            weights = Weights(f"{round_weight(lowest):.2f}", f"{round_weight(highest):.2f}")
        return SearchQuery(
            words=self.text,
            files=tuple(self.files),
            topics=tuple(self.topics),
            since=self.start if self.start is None or self.start.tzinfo else self.start.replace(tzinfo=zone),
            until=self.end if self.end is None or self.end.tzinfo else self.end.replace(tzinfo=zone),
            keepit=weights,
            kinds=(self.kind,) if self.kind else (),
        )


class Hit(WireModel):
    """Something found. `score`: 1 for the best, falling by rank. `matched`: the conditions, which all hold. Words of
    the snippet that match are between U+0002 and U+0003."""

    session_id: Id
    version_id: Annotated[str, formatted("v{:03}")] | None = source("version")
    message_id: str | None
    score: Annotated[float, BeforeValidator(lambda rank: round(1 / rank, 3))] = source("rank")
    snippet: str = source("text")
    at: datetime
    matched: list[str]


class _Described(ContextSettings):
    """The settings, as the generated document describes them."""

    __pydantic_config__ = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SettingsDocument(RootModel[dict[str, Any]]):
    """Settings of a memory's sessions. A change needs only those that change."""

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(TypeAdapter(_Described).core_schema) | {"title": cls.__name__, "description": cls.__doc__}
        _leave_out_defaults(schema, handler)
        return schema


def _leave_out_defaults(schema: JsonSchemaValue, handler: GetJsonSchemaHandler) -> None:
    """Removes the defaults from a schema: generated clients would send them in each change."""
    for one in handler.resolve_ref_schema(schema)["properties"].values():
        one.pop("default", None)
        if "$ref" in one:
            _leave_out_defaults(one, handler)


@router.get("/settings", response_model=SettingsDocument)
async def read_settings(ctx: Reading, project_id: SomeProject = None) -> Any:
    """Returns the settings of a memory's sessions as a document."""
    return (await show_settings(await in_project(ctx, project_id))).as_json()


@router.put("/settings", response_model=SettingsDocument)
async def write_settings(ctx: Writing, given: SettingsDocument, project_id: SomeProject = None) -> Any:
    """Changes the settings in a whole or partial document. Returns the whole document."""
    return (await merge_settings(await in_project(ctx, project_id), given.root)).as_json()


@router.get("/stats", response_model=wire(StorageStatistics))
async def read_statistics(ctx: Reading, project_id: SomeProject = None) -> StorageStatistics:
    """Returns how much a memory stores, in bytes, and what its settings would drop tonight."""
    return await storage_statistics(await in_project(ctx, project_id))


@router.get("/search", response_model=paged("results", Hit))
async def search(ctx: Reading, page: Page, asked: Annotated[SearchAsked, Query()]) -> Any:
    """Finds messages, summaries and versions."""
    there = await in_project(ctx, asked.project_id)
    query = asked.as_query(ctx.zone)
    found = await search_sessions(there, query, page.offset, page.limit)
    return page.page_of("results", [hit(one, conditions_of(query)) for one in found.found], found.total)


def hit(one: FoundInSession, matched: tuple[str, ...]) -> Hit:
    """Returns a hit as it is sent."""
    return Hit.of(one, message_id=f"m{one.id}" if one.kind == "message" else None, matched=matched)


@router.post("/suggest", response_model=Suggestions)
async def suggest_sessions(ctx: Reading, body: SuggestionAsked) -> Any:
    """Returns up to five past sessions that fit, best first, each with what fits into the rest of the budget."""
    there = await in_project(ctx, body.project_id)
    return {"suggestions": await suggest(there, body.query, body.budget)}


@router.post("/links", status_code=201)
async def link(ctx: Writing, body: LinkAsked) -> Link:
    """Links a session to another project of the same memory, which then lists and suggests it."""
    there = await in_project(ctx, body.project_id)
    one = await link_session(there, number_of(body.session_id), body.reason)
    name = f"{one.id}-{body.project_id}"
    return Link(link_id=name, session_id=str(one.id), project_id=body.project_id, reason=one.linked or "")


@router.delete("/links/{linkId}", status_code=204)
async def unlink(ctx: Writing, link_id: Annotated[str, Path(alias="linkId", pattern=r"^\d{1,18}-t\d{1,18}$")]) -> None:
    """Removes a link."""
    session_id, _, project_id = link_id.partition("-")
    await unlink_session(await in_project(ctx, project_id), number_of(session_id))
