"""Personas."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class PersonaCalls(Calls):
    """What the soul is besides in a chat and topic."""

    async def persona(self, chat_id: int, topic_id: int, persona_id: int | None = None) -> Json | None:
        """A version of a place's persona, by default the present one: `{id, text, author_id, author, created_at}`."""
        found: Json | None = await self._call("persona", chat_id=chat_id, topic_id=topic_id, id=persona_id)
        return found

    async def set_persona(
        self, chat_id: int, topic_id: int, text: str, author_id: int, author: str, instead_of: int | None = None
    ) -> tuple[Json | None, Json | None]:
        """Sets a place's persona (empty: clears it), only `instead_of` that version when it is given.

        Returns the present one, and the one whose place it took; that is None too when nothing changed.
        """
        done = await self._call(
            "set_persona",
            chat_id=chat_id,
            topic_id=topic_id,
            text=text,
            author_id=author_id,
            author=author,
            instead_of=instead_of,
        )
        return done["present"], done["before"]
