"""Who may use the bot."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json

CLAIM_MINUTES = 15
INVITE_DAYS = 7
MOST_INVITES = 20
MOST_OUT = 20
"""How many of those who are not let in are listed."""


class PeopleCalls(Calls):
    """Those whom the database names; the settings name others."""

    async def people(self) -> list[Json]:
        """Everybody who may use the bot: `{user_id, role, name}`, role admin or user."""
        found: list[Json] = await self._call("people")
        return found

    async def everybody(self) -> Json:
        """All who are known: `{people, out, out_count, invites}`, out being the newest of those who are not let in."""
        found: Json = await self._call("everybody", most=MOST_OUT)
        return found

    async def person(self, user_id: int | None, username: str = "") -> Json | None:
        """Somebody by their id or @name, with their role; None when the database does not know them."""
        found: Json | None = await self._call("person", user_id=user_id, username=username)
        return found

    async def name_of(self, user_id: int) -> str:
        """What somebody is called; empty when they have said nothing in private yet."""
        return str(await self._call("name_of", user_id=user_id) or "")

    async def offer_claim(self, hash: str) -> bool:
        """Makes a claim link, the only one. Returns whether there is one: not while somebody runs the bot."""
        return bool(await self._call("offer_claim", hash=hash, minutes=CLAIM_MINUTES))

    async def invite(self, hash: str, for_whom: str, by: int, by_name: str) -> str | None:
        """Makes an invitation. Returns until when it can be used (ISO 8601); None when too many are open."""
        until: str | None = await self._call(
            "invite",
            hash=hash,
            for_whom=for_whom,
            days=INVITE_DAYS,
            most=MOST_INVITES,
            by=by,
            by_name=by_name,
        )
        return until

    async def cancel_invite(self, invite_id: int) -> Json | None:
        """Takes an open invitation back. Returns it; None when it is not open any more."""
        gone: Json | None = await self._call("cancel_invite", id=invite_id)
        return gone

    async def decide(self, user_id: int, roles: list[str], role: str, by: int, by_name: str) -> Json | None:
        """Gives somebody who is one of `roles` another role. Returns them as they are then, with `changed`."""
        decided: Json | None = await self._call(
            "decide", user_id=user_id, roles=roles, role=role, by=by, by_name=by_name
        )
        return decided

    async def revoke(self, user_id: int, owned: bool, by: int, by_name: str) -> str:
        """Takes back that somebody may use the bot. `owned`: the settings name an admin. Returns done, last (nobody
        else runs it) or unknown."""
        return str(await self._call("revoke", user_id=user_id, owned=owned, by=by, by_name=by_name))
