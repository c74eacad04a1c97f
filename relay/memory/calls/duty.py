"""What only one process does at a time."""

from __future__ import annotations

from relay.memory.calls.base import Calls


class DutyCalls(Calls):
    """Leases of what only one process does."""

    async def take_duty(self, name: str, lease_seconds: int, rest_seconds: int = 0) -> bool:
        """Takes a duty, or renews it; whether this process has it now.

        It is not given to anybody within `rest_seconds` after it was done to its end.
        """
        return bool(
            await self._call(
                "take_duty", name=name, worker=self._worker, lease_seconds=lease_seconds, rest_seconds=rest_seconds
            )
        )

    async def end_duty(self, name: str, done: bool) -> bool:
        """Gives a duty back, `done` to its end or not; whether this process still had it."""
        return bool(await self._call("end_duty", name=name, worker=self._worker, done=done))

    async def note_run(self, kind: str, bot_id: int) -> None:
        """Notes as an event that this process has `started` to serve a bot, or has `stopped`."""
        await self._call("note_run", kind=kind, bot_id=bot_id, payload={"worker": str(self._worker)})
