"""What went into an answer."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class WhyCalls(Calls):
    """Answers explained."""

    async def answered_turn(
        self, bot_id: int, chat_id: int, topic_id: int, telegram_message_id: int, space: Space
    ) -> int:
        """The turn of an answer in the chat (`telegram_message_id` 0: the last one there); 0 for none."""
        found = await self._call(
            "answered_turn",
            bot_id=bot_id,
            chat_id=chat_id,
            topic_id=topic_id,
            telegram_message_id=telegram_message_id,
            space=space.as_json(),
        )
        return int(found or 0)

    async def answer_said(self, turn_id: int) -> Json | None:
        """What a turn answered, and in which space: `{text, space}`; None without an answer."""
        found: Json | None = await self._call("answer_said", turn_id=turn_id)
        return found

    async def tool_call(self, turn_id: int, number: int) -> Json | None:
        """One tool that a turn's answer called, the nearest there is to that number; None where none was called."""
        found: Json | None = await self._call("tool_call", turn_id=turn_id, nr=number)
        return found

    async def why(self, turn_id: int, user_id: int) -> Json | None:
        """What went into a turn's answer, as `user_id` may see it who sees its space; None without an answer."""
        found: Json | None = await self._call("why", turn_id=turn_id, user_id=user_id)
        return found
