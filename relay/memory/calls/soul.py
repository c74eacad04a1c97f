"""The soul and personas."""

from __future__ import annotations

from relay.memory.calls.base import Calls
from relay.memory.rows.soul import Persona, PersonaChange, Soul, SoulDraft, SoulPage


class SoulCalls(Calls):
    """The personality, versioned."""

    async def soul(self) -> Soul | None:
        """Returns the active soul."""
        return await self._find(Soul, "soul")

    async def soul_version(self, version: int) -> Soul | None:
        """Returns a version, active or not."""
        return await self._find(Soul, "soul_version", version=version)

    async def souls(self, skip: int, limit: int) -> SoulPage:
        """Returns the versions, newest first."""
        return await self._fetch(SoulPage, "souls", skip=skip, limit=limit)

    async def activate_soul(self, text: str, author_id: int, author: str, reason: str) -> int:
        """Activates a new version, unless its text equals the active one's. Returns the active version."""
        return int(await self._call("activate_soul", text=text, author_id=author_id, author=author, reason=reason))

    async def draft_soul(
        self, turn_id: int, text: str, author_id: int, author: str, reason: str, based_on: int | None
    ) -> int:
        """Stores a draft. Returns its id, the same for repeated calls of a turn."""
        return int(
            await self._call(
                "draft_soul",
                turn_id=turn_id,
                text=text,
                author_id=author_id,
                author=author,
                reason=reason,
                based_on=based_on,
            )
        )

    async def decide_soul_draft(self, draft_id: int, decision: str, seen: int, user_id: int) -> SoulDraft | None:
        """Decides an open draft: activate (if the version `seen` is active) or discard. Returns the draft; None if
        there is none."""
        return await self._find(
            SoulDraft, "decide_soul_draft", draft_id=draft_id, decision=decision, seen=seen, user_id=user_id
        )


class PersonaCalls(Calls):
    """Personas of a chat and topic."""

    async def persona(self, chat_id: int, topic_id: int, persona_id: int | None = None) -> Persona | None:
        """Returns a version of a place's persona, by default the current one."""
        return await self._find(Persona, "persona", chat_id=chat_id, topic_id=topic_id, id=persona_id)

    async def set_persona(
        self, chat_id: int, topic_id: int, text: str, author_id: int, author: str, instead_of: int | None = None
    ) -> PersonaChange:
        """Sets a place's persona (empty: clears it), only in place of the version `instead_of` if given."""
        return await self._fetch(
            PersonaChange,
            "set_persona",
            chat_id=chat_id,
            topic_id=topic_id,
            text=text,
            author_id=author_id,
            author=author,
            instead_of=instead_of,
        )
