"""Reminders, and the calendar that apps read."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from relay.commands.reminders import reminders as commands
from relay.commands.reminders.editing import ReminderPatch, patch_reminder
from relay.commands.reminders.feed import CalendarAddress, CalendarFeed, close_feed, open_feed, show_feed
from relay.commands.reminders.intents import GONE, intents, make_intent, set_intent
from relay.commands.reminders.quiet import Quiet, quiet
from relay.core.errors import NotFound, require_found
from relay.core.limits import INTENT_WORDS_LENGTH, PHRASE_LENGTH, REMINDER_LENGTH
from relay.memory.rows.proactive.reminders import Intent, OpenedReminder, Reminder, ReminderPage
from relay.surfaces.http.api.paging import Page, extended
from relay.surfaces.http.caller import Reading, Writing, WritingRoute, reading_calendar
from relay.surfaces.http.wire import Flag, GivenId, No, WireInput, WireModel, up_to, wire

router = APIRouter(prefix="/reminders", tags=["reminders"], route_class=WritingRoute)
ReminderId = Annotated[GivenId, Path(alias="reminderId")]
IntentId = Annotated[GivenId, Path(alias="intentId")]
feed = APIRouter(prefix="/calendar", tags=["reminders"])
PhraseText = Annotated[str, Field(max_length=PHRASE_LENGTH)]


class Phrase(WireInput):
    """A phrase with a time, as after /remind: tomorrow 9:00 call the dentist."""

    text: PhraseText


class ReminderEdit(WireInput):
    """What to change of a reminder."""

    text: PhraseText | None = None
    """Another time, another text, or both, such as friday 9:00 bins; it can't be empty. Another time ends a pause."""
    paused: Flag | None = None
    deleted: No | None = None
    """false: brings it back. `DELETE` deletes it."""
    accepted: Flag = False
    """Accepts a proposed reminder."""


class Holding(WireInput):
    """How long to hold back unprompted messages: on, off, until 8:00, for 2h."""

    until: PhraseText


class NewIntent(WireInput):
    """Words, and what to remind of when the person mentions them."""

    about: Annotated[str, up_to(INTENT_WORDS_LENGTH)]
    text: Annotated[str, up_to(REMINDER_LENGTH)]


class IntentEdit(WireInput):
    """What to change of an intent."""

    deleted: No
    """false: brings it back. `DELETE` deletes it."""


class Intents(WireModel):
    """What the person is reminded of when they mention something."""

    intents: list[wire(Intent)]  # type: ignore[valid-type]


@router.get("", response_model=extended("Reminders", "A page of reminders.", ReminderPage))
async def list_all(ctx: Reading, page: Page) -> Any:
    """Lists upcoming reminders, the nearest first."""
    found = await commands.reminders(ctx, page.offset, page.limit)
    return page.extend("reminders", found, found.total)


@router.post("", status_code=201, response_model=wire(Reminder))
async def make(ctx: Writing, given: Phrase) -> Reminder:
    """Makes a reminder."""
    return await commands.remind(ctx, given.text)


@router.put("/quiet", response_model=wire(Quiet))
async def hold(ctx: Writing, given: Holding) -> Quiet:
    """Holds back all unprompted messages."""
    return await quiet(ctx, given.until)


@router.get("/intents", response_model=Intents)
async def list_intents(ctx: Reading) -> Any:
    """Lists what the person is reminded of when they mention something."""
    return {"intents": await intents(ctx)}


@router.post("/intents", status_code=201, response_model=wire(Intent))
async def add_intent(ctx: Writing, given: NewIntent) -> Intent:
    """Reminds the person of something when they mention it."""
    return await make_intent(ctx, given.about, given.text)


@router.delete("/intents/{intentId}", response_model=wire(Intent))
async def drop_intent(ctx: Writing, intent_id: IntentId) -> Intent:
    """Deletes one of these intents. `PATCH` with {"deleted": false} takes that back."""
    require_found(await _open_intent(ctx, intent_id), NotFound(GONE))
    return await set_intent(ctx, intent_id, "deleted")


@router.patch("/intents/{intentId}", response_model=wire(Intent))
async def restore_intent(ctx: Writing, intent_id: IntentId, given: IntentEdit) -> Intent:
    """Brings a deleted intent back."""
    return await _open_intent(ctx, intent_id) or await set_intent(ctx, intent_id, "active")


async def _open_intent(ctx: Reading, intent_id: int) -> Intent | None:
    return next((one for one in await intents(ctx) if one.id == intent_id), None)


@router.get("/calendar", response_model=wire(CalendarFeed))
async def show_calendar(ctx: Reading) -> CalendarFeed:
    """Returns whether the calendar has an address, and since when."""
    return await show_feed(ctx)


@router.post("/calendar", status_code=201, response_model=wire(CalendarAddress))
async def open_calendar(ctx: Writing) -> CalendarAddress:
    """Gives the calendar a new address, shown once; the former one stops working."""
    return await open_feed(ctx)


@router.delete("/calendar", status_code=204)
async def close_calendar(ctx: Writing) -> None:
    """Removes the address of the calendar."""
    await close_feed(ctx)


@feed.get(
    "/{secret}.ics",
    response_class=Response,
    responses={200: {"content": {"text/calendar": {"schema": {"type": "string"}}}}},
)
async def read_calendar(
    request: Request, secret: Annotated[str, Path(description="From `POST /api/reminders/calendar`.")]
) -> Response:
    """Returns the reminders as a calendar, for an app that reads it again and again."""
    made = await commands.calendar(await reading_calendar(request, secret), empty=True)
    headers = {"Content-Disposition": f'inline; filename="{made.name}"'}
    return Response(made.text, headers=headers, media_type="text/calendar")


@router.get("/{reminderId}", response_model=wire(OpenedReminder))
async def open_one(ctx: Reading, reminder_id: ReminderId) -> OpenedReminder:
    """Opens a reminder, with what happened to it."""
    return await commands.open_reminder(ctx, reminder_id)


@router.patch("/{reminderId}", response_model=wire(Reminder))
async def patch(ctx: Writing, reminder_id: ReminderId, given: ReminderEdit) -> Reminder:
    """Changes, pauses, resumes or brings back a reminder."""
    return await patch_reminder(
        ctx, reminder_id, ReminderPatch(given.text, given.paused, given.deleted, given.accepted)
    )


@router.delete("/{reminderId}", response_model=wire(Reminder))
async def delete(ctx: Writing, reminder_id: ReminderId) -> Reminder:
    """Deletes a reminder. `PATCH` with {"deleted": false} takes that back."""
    if (await commands.open_reminder(ctx, reminder_id)).status == "deleted":
        raise NotFound(commands.GONE)
    return await commands.delete(ctx, reminder_id)


@router.post("/{reminderId}/done", response_model=wire(Reminder))
async def done(ctx: Writing, reminder_id: ReminderId) -> Reminder:
    """Marks the last sent occurrence as done; the next one of a rule stays."""
    return await commands.mark_done(ctx, reminder_id)
