"""Edited messages, answers that take another's place, and reactions."""

from __future__ import annotations

from relay.claims import Claimed
from relay.memory.calls.base import Calls, Json


class EditCalls(Calls):
    """What people do to messages after they were said."""

    async def edit(self, edit: Json) -> Json:
        """Takes an edit: `{bot_id, chat_id, topic_id, telegram_message_id, user_id, edited_at, text, blocks, message}`.

        Returns `{busy: True}` while the message is being answered: the edit is not taken yet. Else, where a new answer
        can be offered, `{offer: {turn_id, chat_id, message_id, rows, changes}}`.
        """
        result: Json = await self._call("edit", edit=edit)
        return result

    async def correct(self, turn: Claimed, chat_id: int, telegram_message_id: int, text: str) -> Json | None:
        """Gives what was heard in a recording of the turn's user the wording of their reply to its echo.

        Returns `{turn_id, last, answered}`: the turn that took the recording, whether nothing was said since, and the
        turn whose answer stands (None without one). None when that message is no such echo.
        """
        result: Json | None = await self._call(
            "correct",
            turn_id=turn.turn_id,
            fence=turn.fence,
            chat_id=chat_id,
            telegram_message_id=telegram_message_id,
            text=text,
        )
        return result

    async def standing(self, turn_id: int, user_id: int) -> Json | None:
        """How a turn stands, to somebody who wants its message answered again: `{asked, stands, last}`.

        None when there is no such turn.
        """
        result: Json | None = await self._call("standing", turn_id=turn_id, user_id=user_id)
        return result

    async def take_keep(self, bot_id: int, chat_id: int, telegram_message_id: int, user_id: int) -> Json | None:
        """Takes the ◆ from an answer. Returns what its last message shows, as an offer does; None: it has none."""
        shown: Json | None = await self._call(
            "take_keep", bot_id=bot_id, chat_id=chat_id, telegram_message_id=telegram_message_id, user_id=user_id
        )
        return shown

    async def react(
        self, bot_id: int, chat_id: int, telegram_message_id: int, user_id: int, emojis: list[str], at: int
    ) -> bool:
        """Takes down which reactions of a person stand at a message, since `at` (Unix seconds).

        Returns whether it is a message that this is kept of.
        """
        return bool(
            await self._call(
                "react",
                bot_id=bot_id,
                chat_id=chat_id,
                telegram_message_id=telegram_message_id,
                user_id=user_id,
                emojis=emojis,
                at=at,
            )
        )
