"""The people who may use the bot, by the settings and the database."""

from __future__ import annotations

import re
import secrets

from relay.memory.calls.people import hash_token
from relay.memory.claims import ClaimedTurn
from relay.memory.store import Store

NONCE = re.compile(r"[A-Za-z0-9_-]{22}")


def new_nonce() -> str:
    """Returns the secret of a link that grants access: 128 random bits, in the form of Telegram's start parameter."""
    return secrets.token_urlsafe(16)


def digest(nonce: str) -> str | None:
    """Returns the SHA-256 under which the database stores a nonce; None for an invalid one."""
    return hash_token(nonce) if NONCE.fullmatch(nonce) else None


class People:
    """Everyone who may use the bot. The settings are certain, but another process may have changed the database since:
    a turn is served by the role with which it was claimed."""

    def __init__(self, admins: frozenset[int], users: frozenset[int] = frozenset(), pairing: bool = False) -> None:
        """`pairing`: strangers may ask for access."""
        self.named_admins = admins
        self.named = admins | users
        self.pairing = pairing
        self._desk: int | None = None
        self._roles: dict[int, str] = {}

    async def refresh(self, store: Store) -> None:
        """Loads the people in the database."""
        self._roles = {row.user_id: row.role for row in await store.people()}

    def seat_owner(self) -> int:
        """Signs the owner in at this terminal. Returns their id."""
        self._desk = self.owner
        return self._desk

    def role_of(self, turn: ClaimedTurn) -> str | None:
        """Returns the role of a turn's user: admin, user, or None for no access."""
        if turn.role == "admin" or turn.user_id == self._desk or turn.user_id in self.named_admins:
            return "admin"
        return "user" if turn.role == "user" or turn.user_id in self.named else None

    @property
    def admins(self) -> frozenset[int]:
        """Returns the admins as this process last saw them, for messages."""
        if self._desk is not None:
            return frozenset({self._desk})
        return self.named_admins | {user_id for user_id, role in self._roles.items() if role == "admin"}

    @property
    def owner(self) -> int:
        """Returns the person whose memory this machine's commands use: the first admin; 1 if there is none yet."""
        return min(self.admins, default=1)

    @property
    def allowed(self) -> frozenset[int]:
        """Returns everyone with access, as this process last saw them."""
        here = frozenset() if self._desk is None else frozenset({self._desk})
        return self.named | self._roles.keys() | here
