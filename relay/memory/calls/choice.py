"""People's own choices."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Choices


class ChoiceCalls(Calls):
    """What people choose for themselves."""

    async def choices(self, user_id: int) -> Choices:
        """What a person chose."""
        return Choices.from_json(await self._call("choices", user_id=user_id))

    async def choose(self, user_id: int, choices: Json) -> Choices:
        """Makes choices, by the names of the fields of `Choices`. Returns all of the person's."""
        return Choices.from_json(await self._call("choose", user_id=user_id, choices=choices))
