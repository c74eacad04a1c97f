"""People, their choices, and what holds in a group."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from relay.memory.calls.base import Calls
from relay.memory.rows.choices import Choices
from relay.memory.rows.people import DecidedPerson, GroupPlace, Invitation, KnownPeople, Member, Person

CLAIM_MINUTES = 15
INVITE_DAYS = 7
MOST_INVITES = 20
MOST_OUT = 20
"""How many of those who are not let in are listed."""


class PeopleCalls(Calls):
    """Those whom the database names; the settings name others."""

    async def people(self) -> list[Member]:
        """Everybody who may use the bot."""
        return await self._list(Member, "people")

    async def everybody(self) -> KnownPeople:
        """Everybody who is known."""
        return await self._fetch(KnownPeople, "everybody", most=MOST_OUT)

    async def person(self, user_id: int | None, username: str = "") -> Person | None:
        """Somebody by their id or @name; None when the database does not know them."""
        return await self._find(Person, "person", user_id=user_id, username=username)

    async def name_of(self, user_id: int) -> str:
        """What somebody is called; empty when they have said nothing in private yet."""
        return str(await self._call("name_of", user_id=user_id) or "")

    async def offer_claim(self, hash: str) -> bool:
        """Makes a claim link, the only one. Returns whether there is one: not while somebody runs the bot."""
        return bool(await self._call("offer_claim", hash=hash, minutes=CLAIM_MINUTES))

    async def invite(self, hash: str, for_whom: str, by: int, by_name: str) -> datetime | None:
        """Makes an invitation. Returns until when it can be used; None when too many are open."""
        return await self._find(
            datetime,
            "invite",
            hash=hash,
            for_whom=for_whom,
            days=INVITE_DAYS,
            most=MOST_INVITES,
            by=by,
            by_name=by_name,
        )

    async def cancel_invite(self, invite_id: int) -> Invitation | None:
        """Takes an open invitation back. Returns it; None when it is not open any more."""
        return await self._find(Invitation, "cancel_invite", id=invite_id)

    async def decide(self, user_id: int, roles: list[str], role: str, by: int, by_name: str) -> DecidedPerson | None:
        """Gives somebody who is one of `roles` another role. Returns them as they are then."""
        return await self._find(
            DecidedPerson, "decide", user_id=user_id, roles=roles, role=role, by=by, by_name=by_name
        )

    async def revoke(self, user_id: int, owned: bool, by: int, by_name: str) -> str:
        """Takes back that somebody may use the bot. `owned`: the settings name an admin. Returns done, last (nobody
        else runs it) or unknown."""
        return str(await self._call("revoke", user_id=user_id, owned=owned, by=by, by_name=by_name))


class ChoiceCalls(Calls):
    """What people choose for themselves."""

    async def choices(self, user_id: int) -> Choices:
        """What a person chose."""
        return Choices.from_stored(await self._call("choices", user_id=user_id))

    async def choose(self, user_id: int, choices: Mapping[str, str | bool]) -> Choices:
        """Makes choices, by the names of the fields of `Choices`. Returns all of the person's."""
        return Choices.from_stored(await self._call("choose", user_id=user_id, choices=dict(choices)))


EVERYWHERE = -1
"""As a topic: all of a group that says nothing else."""


class PlaceCalls(Calls):
    """Groups and their topics."""

    async def place(self, chat_id: int, topic_id: int) -> GroupPlace:
        """How things stand in a group's topic."""
        return await self._fetch(GroupPlace, "place", chat_id=chat_id, topic_id=topic_id)

    async def set_place(self, chat_id: int, topic_id: int, answers: str, user_id: int) -> GroupPlace:
        """Sets what is answered (all, addressed or off) in a topic or everywhere. Returns how things stand then."""
        return await self._fetch(
            GroupPlace, "set_place", chat_id=chat_id, topic_id=topic_id, answers=answers, user_id=user_id
        )

    async def link(self, chat_id: int, owner_id: int) -> int:
        """Lends somebody's memory to a group, unless somebody else's is lent. Returns whose is lent then."""
        return int(await self._call("link", chat_id=chat_id, owner_id=owner_id))

    async def unlink(self, chat_id: int, owner_id: int) -> bool:
        """Takes it back, if it is theirs that is lent. Returns whether it was."""
        return bool(await self._call("unlink", chat_id=chat_id, owner_id=owner_id))
