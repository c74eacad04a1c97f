"""What only one process does at a time."""

from __future__ import annotations

from relay.memory.calls.base import Calls


class DutyCalls(Calls):
    """Duties, held under leases."""

    async def take_duty(self, name: str, lease_seconds: int, rest_seconds: int = 0) -> bool:
        """Takes a duty, or prolongs it. Returns whether it is this process's now: not while another has it, nor within
        `rest_seconds` after it was done."""
        return bool(
            await self._call(
                "take_duty", name=name, worker=self._worker, lease_seconds=lease_seconds, rest_seconds=rest_seconds
            )
        )

    async def end_duty(self, name: str, done: bool) -> None:
        """Gives a duty back. `done`: it was done to its end."""
        await self._call("end_duty", name=name, worker=self._worker, done=done)
