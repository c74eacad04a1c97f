"""People, their settings, and the settings of groups."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.choices import StoredChoices
from relay.memory.rows.people import DecidedPerson, GroupPlace, Invitation, KnownPeople, Member, Person, SpokenGroup

CLAIM_MINUTES = 15
INVITE_DAYS = 7
MOST_INVITES = 20
MOST_OUT = 20
"""How many people without access are listed."""
EVERYWHERE = -1
"""As a topic id: the whole group, except topics with their own setting."""


class PeopleCalls(Calls):
    """People in the database (the settings name others), their own settings, and groups."""

    @rpc()
    async def people(self) -> list[Member]:
        """Returns everyone who has access by the database."""

    @rpc("everybody", most=MOST_OUT)
    async def list_everybody(self) -> KnownPeople:
        """Returns everyone in the database."""

    @rpc()
    async def person(self, user_id: int | None, username: str = "") -> Person | None:
        """Returns a person by id or @name; None if unknown."""

    @rpc()
    async def name_of(self, user_id: int) -> str:
        """Returns a person's name; empty if they have never written in private."""

    @rpc(minutes=CLAIM_MINUTES)
    async def offer_claim(self, hash: str) -> bool:
        """Creates the claim link. Returns whether it did; it doesn't if someone already runs the bot."""

    @rpc(days=INVITE_DAYS, most=MOST_INVITES)
    async def invite(self, hash: str, for_whom: str, by: int, by_name: str) -> datetime | None:
        """Creates an invitation. Returns when it expires; None if too many are open."""

    @rpc()
    async def cancel_invite(self, id: int) -> Invitation | None:
        """Revokes an open invitation. Returns it; None if it is not open."""

    @rpc()
    async def decide(self, user_id: int, roles: list[str], role: str, by: int, by_name: str) -> DecidedPerson | None:
        """Changes the role of a person who has one of `roles`. Returns the person; None if there is no such person."""

    @rpc()
    async def revoke(self, user_id: int, owned: bool, by: int, by_name: str) -> str:
        """Revokes a person's access. `owned`: the settings name an admin. Returns done, last (the only admin) or
        unknown."""

    @rpc()
    async def choices(self, user_id: int) -> StoredChoices:
        """Returns a person's settings."""

    @rpc()
    async def choose(self, user_id: int, choices: Mapping[str, str | bool]) -> StoredChoices:
        """Changes settings by field names of `Choices`. Returns all of them."""

    @rpc()
    async def place(self, chat_id: int, topic_id: int) -> GroupPlace:
        """Returns a topic's settings."""

    @rpc()
    async def set_place(self, chat_id: int, topic_id: int, answers: str, user_id: int) -> GroupPlace:
        """Sets what is answered (all, addressed or off) in a topic or everywhere. Returns the settings."""

    @rpc()
    async def link(self, chat_id: int, owner_id: int) -> int:
        """Lends a person's memory to a group, unless someone else's is lent. Returns the id of the lender."""

    @rpc()
    async def unlink(self, chat_id: int, owner_id: int) -> bool:
        """Ends a person's loan. Returns whether their memory was lent."""

    @rpc()
    async def groups_of(self, user_id: int, most: int) -> list[SpokenGroup]:
        """Returns groups in which a person spoke lately, the latest first."""
