"""People, their settings and API tokens, and the settings of groups."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.choices import StoredChoices
from relay.memory.rows.people import (
    ApiCaller,
    ApiRequest,
    ApiToken,
    CalendarToken,
    DecidedPerson,
    GroupPlace,
    Invitation,
    KnownPeople,
    Marks,
    Member,
    Person,
    SpokenGroup,
    TokenKind,
)

CLAIM_MINUTES = 15
INVITE_DAYS = 7
MOST_INVITES = 20
MOST_OUT = 20
"""How many people without access are listed."""
EVERYWHERE = -1
"""As a topic id: the whole group, except topics with their own setting."""
RUNNING_SECONDS = 300
"""How many seconds a request may run. After that it counts as interrupted and may be repeated."""
KEPT_SECONDS = 86_400
MOST_KEPT = 1_000
"""The most stored requests of one person."""


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
    async def invite(
        self, hash: str, for_whom: str, by: int, by_name: str, turn_id: int | None = None
    ) -> datetime | None:
        """Creates an invitation. Returns when it expires; None if too many are open. It replaces one that was made in
        the same turn."""

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
        """Changes settings by field names of `Choices`; none of them if the zone is no longer `former_zone`. Returns
        all of them."""

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


def hash_token(token: str) -> str:
    """Returns the SHA-256 under which the database stores a token, a link or a key. A token from JSON may hold
    what UTF-8 can't encode."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


class ApiCalls(Calls):
    """Tokens and requests of the API, calendar tokens, and the marks of open pages. The database knows only the SHA-256
    of tokens, in hexadecimal."""

    @rpc("api_caller")
    async def find_api_caller(self, hash: str) -> ApiCaller | None:
        """Returns the person whose token has this hash; None if there is none, or it has expired."""

    @rpc()
    async def store_api_token(
        self, user_id: int, kind: TokenKind, name: str, hash: str, seconds: int | None, given_for: str | None = None
    ) -> bool:
        """Stores a token's hash. The token lasts for `seconds`, or (None) until it is revoked. `given_for`: the hash of
        what it is exchanged for, such as a link, which can be used once. Returns False if that was used before."""

    @rpc()
    async def open_api_link(self, link: str, hash: str, seconds: int) -> int | None:
        """Exchanges a link for a session. Returns the person's id; None if the link was used, or has expired."""

    @rpc("api_tokens")
    async def list_api_tokens(self, user_id: int) -> list[ApiToken]:
        """Returns a person's own tokens, oldest first."""

    @rpc()
    async def revoke_api_token(self, user_id: int, id: int) -> ApiToken | None:
        """Revokes one of a person's own tokens and returns it; None if there is none."""

    @rpc()
    async def end_api_session(self, hash: str) -> bool:
        """Ends a session. Returns whether the token was one."""

    @rpc(lease=RUNNING_SECONDS, keep=KEPT_SECONDS, most=MOST_KEPT)
    async def begin_api_request(self, user_id: int, hash: str, asked: str) -> ApiRequest:
        """Begins a request with an idempotency key, by the hashes of both, or returns the state of an earlier one."""

    @rpc()
    async def end_api_request(
        self, user_id: int, hash: str, status: int | None, content_type: str, body: str, groups: Sequence[int] = ()
    ) -> None:
        """Stores the response of a request, and the chats of the groups that it may quote. Without a status, the
        request is forgotten and may be repeated."""

    @rpc()
    async def calendar_token(self, user_id: int) -> CalendarToken | None:
        """Returns a person's calendar token; None: they have none."""

    @rpc()
    async def replace_calendar_token(self, user_id: int, hash: str | None) -> bool:
        """Replaces a person's calendar token, given its hash; None removes it. Returns whether they had one."""

    @rpc("calendar_caller")
    async def find_calendar_caller(self, hash: str) -> ApiCaller | None:
        """Returns the person whose calendar token has this hash; None if there is none."""

    @rpc()
    async def marks(self, spaces: Sequence[Space], user_id: int) -> list[Marks]:
        """Returns the marks of some spaces that a person's open page watches."""
