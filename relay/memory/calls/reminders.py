"""Reminders: made, listed, changed and delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from relay.core.frozen import as_json
from relay.core.limits import OPEN_INTENTS, OPEN_REMINDERS
from relay.core.models import Space
from relay.memory.calls.base import Calls, decode_row, rpc
from relay.memory.rows.delivery import Message
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.proactive.heartbeat import GateState, Heartbeat, HeartbeatWork, Looked
from relay.memory.rows.proactive.reminders import (
    DatedMemory,
    Intent,
    NewReminder,
    OpenedReminder,
    Reminder,
    ReminderMessage,
    ReminderPage,
    ReminderWork,
    Unasked,
)


class ReminderCalls(Calls):
    """Reminders, standing intents, and checks that ask a model unasked."""

    async def make_reminder(self, new: NewReminder) -> Reminder | str:
        """Makes a reminder and returns it; a repeated call of the same turn returns the same one. A text says why it
        was not made: many (the person has too many), or private (the conversation is off the record)."""
        made = await self._call("make_reminder", reminder=as_json(new) | {"most": OPEN_REMINDERS})
        return str(made["refused"]) if "refused" in made else decode_row(Reminder, made)

    @rpc()
    async def reminders(self, space: Space, user_id: int, offset: int, limit: int) -> ReminderPage:
        """Returns a page of open reminders: a person's own, or a group's."""

    @rpc()
    async def reminder(self, space: Space, user_id: int, reminder_id: int) -> OpenedReminder | None:
        """Returns a reminder with its latest events; None if the person may not see it."""

    async def change_reminder(
        self, reminder_id: int, event: str, user_id: int, known: datetime | None, **change: object
    ) -> Reminder | None:
        """Changes a reminder and records the event. `known`: its next time as the caller knows it. None: the next time
        has changed, or the reminder is gone."""
        return await self._change_reminder(reminder_id, known, change | {"event": event, "user_id": user_id})

    @rpc("change_reminder")
    async def _change_reminder(
        self, reminder_id: int, known: datetime | None, change: Mapping[str, object]
    ) -> Reminder | None: ...

    async def make_intent(self, incoming: Mapping[str, object]) -> Intent | str:
        """Makes a standing intent and returns it. A text says why it was not made: many, private, or words (there are
        none to match)."""
        made = await self._call("make_intent", intent={**incoming, "most_open": OPEN_INTENTS})
        return str(made["refused"]) if "refused" in made else decode_row(Intent, made)

    @rpc()
    async def use_intents(self, turn_id: int, intent_ids: Sequence[int]) -> None:
        """Counts that a turn shows standing intents; once for each turn."""

    @rpc()
    async def intents(self, space: Space, user_id: int) -> list[Intent]:
        """Returns a person's open standing intents, newest first."""

    @rpc()
    async def set_intent(
        self, space: Space, user_id: int, intent_id: int, status: str, turn_id: int | None = None
    ) -> Intent | None:
        """Sets the status of a person's own standing intent. None: they have no such intent. `turn_id`: the answer that
        does, which undoes it if it fails."""

    @rpc()
    async def end_reminders(self, turn_id: int, messages: Sequence[Message]) -> int:
        """Ends all reminders of the group to which a turn could not deliver one, and queues notes about it; in a
        person's own chat they wait until the person comes back. Returns how many. For a turn that delivers
        no reminder, only takes its message out of the conversation."""

    @rpc()
    async def pause_reminders(self, bot_id: int, chat_id: int, user_id: int, messages: Sequence[Message]) -> int:
        """Pauses a person's reminders in a group that they left, and queues notes about it if there are any. Returns
        how many."""

    @rpc()
    async def dated_memory(self, space: Space, memory_id: int) -> DatedMemory | None:
        """Returns a future goal or event; None: there is none with this id, or it is past."""

    @rpc()
    async def former_reminder(self, reminder_id: int) -> Reminder | None:
        """Returns the reminder for an event's former date that this one was set in place of; None: there is none, or
        its time has passed."""

    @rpc()
    async def quiet(self, space: Space, until: str | None) -> None:
        """Holds back unasked messages until a time (ISO 8601, or infinity); None: no longer."""

    @rpc()
    async def reminder_work(self, job: ClaimedJob) -> ReminderWork | None:
        """Returns the reminders that are due in a job's chat. None: this process has lost the job."""

    @rpc()
    async def tell_reminders(
        self, job: ClaimedJob, bot_id: int, messages: Sequence[ReminderMessage], not_before: datetime | None = None
    ) -> int | None:
        """Queues messages and moves their reminders on, in one step; the job then waits for the next one. Returns how
        many messages were queued. None: this process has lost the job."""

    @rpc()
    async def proactive_gate(self, space_id: int, user_id: int, since: datetime) -> GateState:
        """Returns what the gates need to know of a person. `since`: the time from which spending counts."""

    @rpc("unasked")
    async def find_unasked(self, bot_id: int, chat_id: int, telegram_message_id: int, space: Space) -> Unasked | None:
        """Returns what an unasked message of the bot came from; None: it is another message."""

    @rpc()
    async def heartbeat(self, space: Space) -> Heartbeat | None:
        """Returns a space's heartbeat; None: it has none."""

    async def set_heartbeat(self, space: Space, **change: object) -> Heartbeat:
        """Creates a heartbeat, or changes the given fields."""
        return await self._fetch(Heartbeat, "set_heartbeat", space=space.as_json(), change=change)

    @rpc()
    async def heartbeat_work(self, job: ClaimedJob) -> HeartbeatWork | None:
        """Returns what a job's check reads. None: this process has lost the job, or the heartbeat is off."""

    @rpc()
    async def looked(self, job: ClaimedJob, bot_id: int, look: Looked) -> bool:
        """Stores the result of a check, and queues its message. Returns whether there is one."""
