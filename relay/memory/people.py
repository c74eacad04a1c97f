"""Who may use the bot: those whom the settings name, and those whom the database does."""

from __future__ import annotations

import hashlib
import re
import secrets

from relay.memory.claims import ClaimedTurn
from relay.memory.store import Store

NONCE = re.compile(r"[A-Za-z0-9_-]{22}")


def new_nonce() -> str:
    """What a link carries that lets somebody in: 128 random bits, as Telegram's start parameter takes them."""
    return secrets.token_urlsafe(16)


def digest(nonce: str) -> str | None:
    """By what the database knows a nonce: its SHA-256. None for what cannot be one."""
    return hashlib.sha256(nonce.encode()).hexdigest() if NONCE.fullmatch(nonce) else None


class People:
    """Everybody who may use the bot. What the settings say is certain. What the database says, another process may
    have changed since: whom a turn serves is decided by what it was claimed with."""

    def __init__(
        self,
        admins: frozenset[int],
        users: frozenset[int] = frozenset(),
        pairing: bool = False,
    ) -> None:
        """`pairing`: strangers may ask to be let in."""
        self.named_admins = admins
        self.named = admins | users
        self.pairing = pairing
        self._desk: int | None = None
        self._roles: dict[int, str] = {}

    async def refresh(self, store: Store) -> None:
        """Looks up whom the database names."""
        self._roles = {row.user_id: row.role for row in await store.people()}

    def seat_owner(self) -> int:
        """Lets the owner sit at this terminal, where nobody else is told anything. Returns who it is."""
        self._desk = self.owner
        return self._desk

    def role_of(self, turn: ClaimedTurn) -> str | None:
        """What a turn's user is: admin, user, or nobody who is answered."""
        if turn.role == "admin" or turn.user_id == self._desk or turn.user_id in self.named_admins:
            return "admin"
        return "user" if turn.role == "user" or turn.user_id in self.named else None

    @property
    def admins(self) -> frozenset[int]:
        """Those who run the bot, as this process last saw it, to be told something."""
        if self._desk is not None:
            return frozenset({self._desk})
        return self.named_admins | {user_id for user_id, role in self._roles.items() if role == "admin"}

    @property
    def owner(self) -> int:
        """Whose memory the commands of this machine are about: the first of the admins; 1 where there is none yet."""
        return min(self.admins, default=1)

    @property
    def allowed(self) -> frozenset[int]:
        """Everybody whom the bot answers, as this process last saw it."""
        return self.named | self._roles.keys()
