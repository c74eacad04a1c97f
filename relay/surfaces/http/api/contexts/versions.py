"""Versions of a session: listed, made, read, compared."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from relay.commands.context import CommandContext
from relay.commands.contexts import compress as commands
from relay.commands.contexts.projects import read_whole_original
from relay.commands.contexts.version_file import original_file, version_file
from relay.commands.contexts.versions import compare_versions, list_versions, read_version, versions_named
from relay.commands.contexts.wish import Wish
from relay.commands.history.sessions import open_session
from relay.core.errors import BudgetUsedUp
from relay.memory.contexts.settings import LEAST_RATIO, MOST_RATIO, MOST_TIERS
from relay.memory.rows.contexts.versions import OpenedVersion
from relay.surfaces.http.api.contexts.files import download, downloads, sent
from relay.surfaces.http.api.contexts.names import MarkerName, Name, SessionId, VersionId, in_session
from relay.surfaces.http.api.contexts.records import CompressionRecord, Row
from relay.surfaces.http.api.contexts.sessions import Aggressiveness
from relay.surfaces.http.api.paging import Page
from relay.surfaces.http.caller import Reading, begin_writing
from relay.surfaces.http.wire import WHOLE, Flag, WireInput, WireModel, source

router = APIRouter(prefix="/memory", tags=["versions"])

Ratio = Annotated[int, Field(ge=LEAST_RATIO, le=MOST_RATIO, strict=True), WHOLE]
ORIGINAL: Final = "original"


class VersionList(WireModel):
    """A session's versions, newest first."""

    session_id: str
    original_tokens: int
    original_messages: int
    versions: list[CompressionRecord]
    total: int
    next: str | None


class TierAsked(WireInput):
    """A stretch of a session's tokens, oldest first, and how it is compressed."""

    end_percent: Annotated[int, Field(ge=1, le=100, strict=True), WHOLE]
    compaction_ratio: Ratio
    aggressiveness: Aggressiveness


class CompressionSettings(WireInput):
    """How to make a version. Missing fields have the defaults of the session's memory."""

    mode: Literal["uniform", "tiered"] | None = None
    compaction_ratio: Ratio | None = None
    aggressiveness: Aggressiveness | None = None
    tier_preset: Literal["gentle", "standard", "aggressive", "custom"] | None = None
    custom_tiers: Annotated[list[TierAsked], Field(max_length=MOST_TIERS)] | None = None
    model: Literal["small", "big"] | None = None
    method: Literal["model", "extract"] | None = None
    """extract: without a model, for free."""
    skip_first_messages: Annotated[int, Field(ge=0, le=10_000, strict=True), WHOLE] | None = None
    keepit_mode: Literal["decay", "preserve-all", "ignore"] | None = None
    session_distance: Annotated[int, Field(ge=1, le=1_000_000, strict=True), WHOLE] | None = None

    def given(self) -> dict[str, Any]:
        """Returns the given fields, in the form in which settings are stored."""
        shape = self.model_dump(include=set(CompressionSettings.model_fields), exclude_none=True)
        for one in (shape, *shape.get("customTiers", ())):
            if one.get("aggressiveness") == "minimal":
                one["aggressiveness"] = "light"
        return shape


class VersionAsked(CompressionSettings):
    """A version to make. `preview`: only returns a preview. `again`: even if the same one exists."""

    source_version: Name | None = None
    preview: Flag = False
    again: Flag = False


class Estimate(WireModel):
    """The approximate size and cost of a version."""

    output_tokens: int = source("estimated_tokens")
    output_messages: int = source("estimated_messages")
    compression_ratio: float
    cost_usd: float | None = source("cost")


class KeepitEstimate(WireModel):
    """Which markers it would keep. `threshold`: the highest of its stretches; null without markers."""

    threshold: float | None
    preserved: int = source("keeps")
    summarized: int = source("summarises")


class VersionPreview(WireModel):
    """The preview of a version, with its settings. `thresholds`: of all stretches with markers, ascending.
    `unavailable`: why a model can't be asked now; else empty."""

    estimate: Estimate
    keepit: KeepitEstimate
    thresholds: list[float]
    settings: dict[str, Any]
    input_tokens: int = source("tokens")
    input_messages: int = source("messages")
    may_make: bool
    unavailable: str = source("no_model")


class VersionMade(WireModel):
    """A requested version."""

    version_id: str = source("short")
    status: Literal["due", "ready", "failed"]


class OpenedRecord(CompressionRecord):
    """A version with its text. `leftOut`: how many messages no row is made from."""

    rows: list[Row]
    left_out: int


class OriginalRecord(WireModel):
    """A session's original as if it were a version."""

    version_id: Literal["original"]
    output_tokens: int
    output_messages: int
    rows: list[Row]


class MarkerOfOne(WireModel):
    """A marker that only one of two versions kept."""

    marker_id: MarkerName = source("id")
    weight: float
    content: str


class Comparison(WireModel):
    """Two versions side by side."""

    a: OpenedRecord
    b: OpenedRecord
    only_a: list[MarkerOfOne]
    only_b: list[MarkerOfOne]


@router.get("/sessions/{sessionId}/versions")
async def list_all(ctx: Reading, page: Page, session_id: SessionId) -> VersionList:
    """Lists a session's versions, newest first."""
    there, number = await in_session(ctx, session_id)
    session = await open_session(there, number)
    found = await list_versions(there, number, page.offset, page.limit)
    return VersionList.of(
        found,
        session_id=session_id,
        original_tokens=session.tokens,
        original_messages=session.messages,
        next=page.next_of(found.total),
    )


@router.post(
    "/sessions/{sessionId}/versions",
    status_code=202,
    response_model=VersionMade,
    responses={
        200: {
            "model": VersionPreview | VersionMade,
            "description": "A preview, or the same version, which already exists.",
        },
        201: {"model": VersionMade},
    },
)
async def make(request: Request, response: Response, ctx: Reading, session_id: SessionId, body: VersionAsked) -> Any:
    """Makes a version, or previews it. 200: a preview, or the same version already exists. 201: it was made at once,
    without a model. 202: it is being made."""
    there, number = await in_session(ctx, session_id)
    settings = await commands.complete_settings(there, body.given())
    source = (await versions_named(there, number, [body.source_version]))[0].id if body.source_version else None
    if body.preview:
        shown = await commands.compress(there, Wish(settings=settings), number, source)
        return sent(preview(shown))
    if not body.again and (there_already := await commands.find_made(there, number, settings, source)):
        return sent(VersionMade.of(there_already, status="ready"))
    async with begin_writing(there, request) as written:
        made = await commands.make_version(written, number, settings, source)
    if made.version is None:
        raise BudgetUsedUp(made.detail)
    response.status_code = 201 if made.version.status == "ready" else 202
    return made.version


def preview(shown: commands.CompressionPreview) -> VersionPreview:
    """Returns a preview as it is sent."""
    ratio = round(shown.tokens / max(1, shown.estimated_tokens), 1)
    return VersionPreview.of(
        shown,
        estimate=Estimate.of(shown, compression_ratio=ratio),
        keepit=KeepitEstimate.of(shown, threshold=max(shown.thresholds, default=None)),
    )


@router.get(
    "/sessions/{sessionId}/versions/{versionId}",
    response_model=OpenedRecord | OriginalRecord,
    responses=downloads("md", "jsonl"),
)
async def read(
    ctx: Reading, session_id: SessionId, version_id: VersionId, format: Literal["json", "md", "jsonl"] = "json"
) -> Any:
    """Returns a version with its text, or as a file; `original` is what was said."""
    there, number = await in_session(ctx, session_id)
    if version_id == ORIGINAL:
        return await read_as_said(there, number, format)
    opened = await read_version(there, (await versions_named(there, number, [version_id]))[0].id)
    return opened_record(opened) if format == "json" else download(version_file(opened, format, ctx.zone))


async def read_as_said(ctx: CommandContext, number: int, format: Literal["json", "md", "jsonl"]) -> Any:
    """Returns a session's original."""
    session, messages = await open_session(ctx, number), await read_whole_original(ctx, number)
    if format != "json":
        return download(original_file(session, messages, format, ctx.zone))
    said = [Row(role=one.role, text=one.text, at=one.at, kept=True, weight=None) for one in messages]
    return OriginalRecord(
        version_id=ORIGINAL, output_tokens=session.tokens, output_messages=session.messages, rows=said
    )


def opened_record(opened: OpenedVersion) -> OpenedRecord:
    """Returns a version with its text as it is sent."""
    return OpenedRecord.of(opened.version, rows=opened.rows, left_out=opened.left_out)


@router.get("/sessions/{sessionId}/compare")
async def compare(ctx: Reading, session_id: SessionId, a: str, b: str) -> Comparison:
    """Returns two versions of a session side by side."""
    there, number = await in_session(ctx, session_id)
    first, second = await versions_named(there, number, [a, b])
    found = await compare_versions(there, first.id, second.id)
    return Comparison.of(found, a=opened_record(found.a), b=opened_record(found.b))
