"""The soul and personas."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class SoulCalls(Calls):
    """The personality, versioned."""

    async def soul(self) -> Json | None:
        """The active soul: `{version, text, author_id, author, reason, active, created_at}`."""
        found: Json | None = await self._call("soul")
        return found

    async def soul_version(self, version: int) -> Json | None:
        """A version of it, active or not."""
        found: Json | None = await self._call("soul_version", version=version)
        return found

    async def souls(self, skip: int, limit: int) -> Json:
        """The versions, newest first: `{total, souls}`."""
        page: Json = await self._call("souls", skip=skip, limit=limit)
        return page

    async def activate_soul(self, text: str, author_id: int, author: str, reason: str) -> int:
        """Makes a new version active, unless the active one has that text. Returns the active version."""
        return int(await self._call("activate_soul", text=text, author_id=author_id, author=author, reason=reason))

    async def draft_soul(
        self, turn_id: int, text: str, author_id: int, author: str, reason: str, based_on: int | None
    ) -> int:
        """Keeps a text that waits to be decided. Returns the draft's id, which is the same whenever a turn asks."""
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

    async def decide_soul_draft(self, draft_id: int, decision: str, seen: int, user_id: int) -> Json | None:
        """Decides an open draft: activate (as long as the version `seen` is active) or discard. Returns the draft as it
        stands then (`status`: open, activated as `version`, discarded); None when there is none."""
        draft: Json | None = await self._call(
            "decide_soul_draft", draft_id=draft_id, decision=decision, seen=seen, user_id=user_id
        )
        return draft


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
