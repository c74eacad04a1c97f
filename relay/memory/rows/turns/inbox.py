"""Updates as the queue takes them in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asking:
    """Somebody turned to the bot in a way that may let them in, or let them ask for it."""

    name: str
    username: str | None
    hash: str | None = None
    """Digest of what the link carried with which they pressed Start."""
    group: str | None = None
    """The title of the group in which they turned to the bot."""
    message: Mapping[str, Any] | None = None
    """What is left of their message there."""
    owned: bool = False
    """The settings name an admin."""
    pairing: bool = False
    """Strangers may ask to be let in."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One update, sorted."""

    update_id: int
    kind: str
    """turn, control, overheard (in a group, and for the bot only where all is) or ignored."""
    user_id: int | None = None
    known: bool = False
    """The settings let its sender in."""
    event: str | None = None
    """What the event log says of an update that is not kept: ignored or unreadable."""
    chat_id: int | None = None
    topic_id: int | None = None
    payload: Mapping[str, Any] | None = None
    redacted: Any = None
    """What the event log gets of it."""
    said: bool | None = None
    """Somebody says something with it."""
    telegram_message_id: int | None = None
    hold: float | None = None
    """Seconds to wait for what may belong to it."""
    mergeable: bool | None = None
    """It may be one turn with what its sender says around it."""
    start: Asking | None = None
    """Start was pressed in the private chat."""
    knock: Asking | None = None
    """A stranger turned to the bot in a group."""

    def arguments(self) -> dict[str, object]:
        """As `relay_intake` takes it."""
        shown = {name: getattr(self, name) for name in self.__slots__}
        for name in ("start", "knock"):
            if shown[name] is not None:
                shown[name] = asdict(shown[name])
        return {name: value for name, value in shown.items() if value is not None}
