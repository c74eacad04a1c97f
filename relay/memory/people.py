"""Who may use the bot: those whom the settings name, and those whom the database does."""

from __future__ import annotations

from relay.memory.store import Store


class People:
    """Everybody who may use the bot, as this process last saw it."""

    def __init__(self, admins: frozenset[int], users: frozenset[int] = frozenset()) -> None:
        self._named_admins = admins
        self._named = admins | users
        self._roles: dict[int, str] = {}

    async def refresh(self, store: Store) -> None:
        """Looks up whom the database names."""
        self._roles = {row["user_id"]: row["role"] for row in await store.people()}

    @property
    def admins(self) -> frozenset[int]:
        """Those who run the bot."""
        return self._named_admins | {user_id for user_id, role in self._roles.items() if role == "admin"}

    @property
    def allowed(self) -> frozenset[int]:
        """Everybody whom the bot answers. Empty means nobody."""
        return self._named | self._roles.keys()
