"""Reminders: made, listed, changed and delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from relay.core.limits import OPEN_INTENTS, OPEN_REMINDERS
from relay.core.models import Space
from relay.memory.calls.base import Calls, decode_row
from relay.memory.rows.delivery import Message
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.proactive.reminders import (
    DatedMemory,
    Intent,
    NewReminder,
    OpenedReminder,
    Reminder,
    ReminderMessage,
    ReminderPage,
    ReminderWork,
)


class ReminderCalls(Calls):
    """Reminders and standing intents."""

    async def make_reminder(self, new: NewReminder) -> Reminder | str:
        """Makes a reminder and returns it; a repeated call of the same turn returns the same one. A text says why it
        was not made: many (the person has too many), or private (the conversation is off the record)."""
        made = await self._call("make_reminder", reminder=new.as_json() | {"most": OPEN_REMINDERS})
        return str(made["refused"]) if "refused" in made else decode_row(Reminder, made)

    async def reminders(self, space: Space, user_id: int, offset: int, limit: int) -> ReminderPage:
        """Returns a page of open reminders: a person's own, or a group's."""
        return await self._fetch(
            ReminderPage, "reminders", space=space.as_json(), user_id=user_id, offset=offset, limit=limit
        )

    async def reminder(self, space: Space, user_id: int, reminder_id: int) -> OpenedReminder | None:
        """Returns a reminder with its latest events; None if the person may not see it."""
        return await self._find(
            OpenedReminder, "reminder", space=space.as_json(), user_id=user_id, reminder_id=reminder_id
        )

    async def change_reminder(
        self, reminder_id: int, event: str, user_id: int, known: datetime | None, **change: object
    ) -> Reminder | None:
        """Changes a reminder and records the event. `known`: its next time as the caller knows it. None: the next time
        has changed, or the reminder is gone."""
        return await self._find(
            Reminder, "change_reminder", reminder_id=reminder_id,
            known=known and known.isoformat(),
            change=change | {"event": event, "user_id": user_id},
        )  # fmt: skip

    async def make_intent(self, incoming: Mapping[str, object]) -> Intent | str:
        """Makes a standing intent and returns it. A text says why it was not made: many, private, or words (there are
        none to match)."""
        made = await self._call("make_intent", intent={**incoming, "most_open": OPEN_INTENTS})
        return str(made["refused"]) if "refused" in made else decode_row(Intent, made)

    async def use_intents(self, turn_id: int, intent_ids: Sequence[int]) -> None:
        """Counts that a turn shows standing intents; once for each turn."""
        await self._call("use_intents", turn_id=turn_id, intent_ids=list(intent_ids))

    async def intents(self, space: Space, user_id: int) -> list[Intent]:
        """Returns a person's open standing intents, newest first."""
        return await self._list(Intent, "intents", space=space.as_json(), user_id=user_id)

    async def set_intent(self, space: Space, user_id: int, intent_id: int, status: str) -> Intent | None:
        """Sets the status of a person's own standing intent. None: they have no such intent."""
        return await self._find(
            Intent, "set_intent", space=space.as_json(), user_id=user_id, intent_id=intent_id, status=status
        )

    async def end_reminders(self, turn_id: int, notes: Sequence[Message]) -> int:
        """Ends all reminders of the chat to which a turn could not deliver one, and queues notes about it. Returns how
        many were open. Does nothing for a turn that delivers no reminder."""
        messages = [one.as_json() for one in notes]
        return int(await self._call("end_reminders", turn_id=turn_id, messages=messages))

    async def dated_memory(self, space: Space, memory_id: int) -> DatedMemory | None:
        """Returns a future goal or event; None: there is none with this id, or it is past."""
        return await self._find(DatedMemory, "dated_memory", space=space.as_json(), memory_id=memory_id)

    async def quiet(self, space: Space, until: str | None) -> None:
        """Holds back unasked messages until a time (ISO 8601, or infinity); None: no longer."""
        await self._call("quiet", space=space.as_json(), until=until)

    async def reminder_work(self, job: ClaimedJob) -> ReminderWork | None:
        """Returns the reminders that are due in a job's chat. None: this process has lost the job."""
        return await self._find(ReminderWork, "reminder_work", job_id=job.id, fence=job.fence)

    async def tell_reminders(
        self, job: ClaimedJob, bot_id: int, messages: Sequence[ReminderMessage], not_before: datetime | None = None
    ) -> int | None:
        """Queues messages and moves their reminders on, in one step; the job then waits for the next one. Returns how
        many messages were queued. None: this process has lost the job."""
        found: int | None = await self._call(
            "tell_reminders", job_id=job.id, fence=job.fence, bot_id=bot_id,
            messages=[one.as_json() for one in messages],
            not_before=not_before and not_before.isoformat(),
        )  # fmt: skip
        return found
