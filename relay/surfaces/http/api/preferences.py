"""Preferences: how a person likes answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import AwareDatetime, Field

from relay.commands.history.why import PreferenceDiagnostics, diagnose_preferences
from relay.commands.preferences import preferences as commands
from relay.commands.preferences.feedback import BETTER_LENGTH, DIMENSIONS, Feedback, Signal, prefer, signal
from relay.core.limits import FORGOTTEN_AT_ONCE, PATTERN_LENGTH
from relay.memory.rows.turns.preferences import FeedbackResult, Preferences, PreferenceSource
from relay.surfaces.http.api.contexts.names import ProjectId, in_project
from relay.surfaces.http.caller import Reading, Writing, WritingRoute
from relay.surfaces.http.wire import WHOLE, Flag, GivenId, GivenTime, WireInput, WireModel, up_to, wire

router = APIRouter(prefix="/preferences", tags=["preferences"], route_class=WritingRoute)
PreferenceId = Annotated[GivenId, Path(alias="preferenceId")]


class Statement(WireInput):
    """What answers should do, or avoid."""

    polarity: Literal["prefer", "avoid"]
    pattern: Annotated[str, up_to(PATTERN_LENGTH)]


class GivenSignal(WireInput):
    """An act. Its kind says which of the other fields it needs."""

    kind: Literal["accept", "thumbs", "tag", "refine", "abandon", "revert", "compare", "said"]
    turn_id: GivenId | None = None
    """The answer's turn. For compare, the chosen one; for revert, the one brought back."""
    up: Flag = True
    """thumbs: approval; said: prefer."""
    words: Annotated[str, up_to(BETTER_LENGTH)] = ""
    """tag: up to three, separated by commas; said: one; refine: the person's own version."""
    over: GivenId | None = None
    """compare, revert: the turn of the other answer."""
    dimensions: Annotated[tuple[str, ...], Field(max_length=len(DIMENSIONS))] = ()
    """compare: shorter, clearer, tone, form or facts."""
    how: Literal["stop", "again"] = "again"
    """abandon: it was stopped, or asked for again."""


class Settings(WireInput):
    """Switches to change; missing ones keep their state."""

    on: Flag | None = None
    paused_until: GivenTime[AwareDatetime] | None = None
    """null: ends a pause."""
    here: Literal["use", "ignore", "quiet", "own"] | None = None
    """How the person's own chat uses preferences."""


class InThread(WireInput):
    """What a conversation does with preferences: follows them, ignores them, teaches none, or has its own."""

    here: Literal["use", "ignore", "quiet", "own"]


class Restore(WireInput):
    """Decisions that forgot preferences."""

    decisions: Annotated[list[GivenId], Field(min_length=1, max_length=FORGOTTEN_AT_ONCE)]


class Waiting(WireInput):
    """Whether to keep the waiting reactions."""

    keep: Flag


class Reset(WireInput):
    """The number of preferences, to confirm the reset."""

    known: Annotated[int, Field(ge=0, le=1_000_000, strict=True), WHOLE]


class Count(WireModel):
    """How many."""

    done: int


@router.get("", response_model=wire(Preferences))
async def list_all(ctx: Reading) -> Preferences:
    """Lists how the person likes answers, strongest first, and the switches."""
    return await commands.list_preferences(ctx)


@router.post("", status_code=201, response_model=wire(Feedback))
async def say(ctx: Writing, given: Statement) -> Feedback:
    """Sets what answers should do, or avoid. Takes effect at once."""
    return await prefer(ctx, given.pattern, 1 if given.polarity == "prefer" else -1, "http")


@router.post("/signals", status_code=201, response_model=wire(FeedbackResult))
async def report(ctx: Writing, given: GivenSignal) -> FeedbackResult:
    """Reports an act that says something about an answer, as a tap in the chat does."""
    return await signal(ctx, Signal(**given.model_dump(by_alias=False)), "http")


@router.get("/diagnostics", response_model=wire(PreferenceDiagnostics))
async def diagnose(ctx: Reading) -> PreferenceDiagnostics:
    """Returns which preferences the last answer followed, and which it left out."""
    return await diagnose_preferences(ctx)


@router.put("/settings", response_model=wire(Preferences))
async def switch(ctx: Writing, given: Settings) -> Preferences:
    """Turns preferences on or off, or pauses them."""
    resume = "paused_until" in given.model_fields_set and given.paused_until is None
    until: datetime | None = given.paused_until
    return await commands.switch_preferences(ctx, commands.PreferenceSwitch(given.on, until, resume, given.here))


@router.put("/threads/{projectId}", response_model=wire(Preferences))
async def switch_there(ctx: Writing, project_id: ProjectId, given: InThread) -> Preferences:
    """Sets what one conversation does with preferences. Its id is that of its project."""
    return await commands.switch_preferences(
        await in_project(ctx, project_id), commands.PreferenceSwitch(here=given.here)
    )


@router.post("/restore", response_model=Count)
async def restore(ctx: Writing, given: Restore) -> Count:
    """Brings forgotten preferences back."""
    return Count(done=await commands.undo_forgetting(ctx, given.decisions))


@router.post("/decide", response_model=Count)
async def decide(ctx: Writing, given: Waiting) -> Count:
    """Keeps the waiting reactions, or discards them."""
    return Count(done=await commands.decide_waiting(ctx, given.keep))


@router.post("/reset", response_model=wire(commands.ResetPreferences))
async def reset(ctx: Writing, given: Reset) -> commands.ResetPreferences:
    """Forgets all preferences."""
    return await commands.reset_preferences(ctx, given.known)


@router.get("/{preferenceId}", response_model=wire(PreferenceSource))
async def open_one(ctx: Reading, preference_id: PreferenceId) -> PreferenceSource:
    """Opens a preference, with what taught it."""
    return await commands.open_preference(ctx, preference_id)


@router.delete("/{preferenceId}", response_model=wire(commands.ForgottenPreferences))
async def forget(ctx: Writing, preference_id: PreferenceId) -> commands.ForgottenPreferences:
    """Forgets a preference. `POST /api/preferences/restore` takes that back."""
    return await commands.forget_preferences(ctx, [preference_id])
