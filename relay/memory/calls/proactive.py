"""The heartbeat, and the gates of every message that is sent unasked."""

from __future__ import annotations

from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.proactive.heartbeat import GateState, Heartbeat, HeartbeatWork, Looked
from relay.memory.rows.proactive.reminders import Unasked


class ProactiveCalls(Calls):
    """The checks that ask a model unasked."""

    async def proactive_gate(self, space_id: int, user_id: int, since: datetime) -> GateState:
        """Returns what the gates need to know of a person. `since`: the time from which spending counts."""
        return await self._fetch(
            GateState, "proactive_gate", space_id=space_id, user_id=user_id, since=since.isoformat()
        )

    async def find_unasked(self, bot_id: int, chat_id: int, message_id: int, space: Space) -> Unasked | None:
        """Returns what a message of the bot came from that answers nothing; None: it is another message."""
        return await self._find(
            Unasked, "unasked", bot_id=bot_id, chat_id=chat_id, telegram_message_id=message_id, space=space.as_json()
        )

    async def heartbeat(self, space: Space) -> Heartbeat | None:
        """Returns a space's heartbeat; None: it has none."""
        return await self._find(Heartbeat, "heartbeat", space=space.as_json())

    async def set_heartbeat(self, space: Space, **change: object) -> Heartbeat:
        """Creates a heartbeat, or changes the given fields."""
        return await self._fetch(Heartbeat, "set_heartbeat", space=space.as_json(), change=change)

    async def heartbeat_work(self, job: ClaimedJob) -> HeartbeatWork | None:
        """Returns what a job's check reads. None: this process has lost the job, or the heartbeat is off."""
        return await self._find(HeartbeatWork, "heartbeat_work", job_id=job.id, fence=job.fence)

    async def looked(self, job: ClaimedJob, bot_id: int, look: Looked) -> bool:
        """Stores the result of a check, and queues its message. Returns whether there is one."""
        return bool(await self._call("looked", job_id=job.id, fence=job.fence, bot_id=bot_id, look=look.as_json()))
