"""Updates as the queue stores them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.core.frozen import as_json, frozen


@frozen
class Asking:
    """A person turned to the bot in a way that may give them access, or let them ask for it."""

    name: str
    username: str | None
    hash: str | None = None
    """Digest of what the Start link carried."""
    group: str | None = None
    """The title of the group in which they turned to the bot."""
    message: Mapping[str, Any] | None = None
    """What is kept of their message there."""
    owned: bool = False
    """The settings name an admin."""
    pairing: bool = False
    """Strangers may ask for access."""


@frozen
class InboxRow:
    """One update, sorted."""

    update_id: int
    kind: str
    """turn, control, overheard (a group message that is for the bot only if it answers everything) or ignored."""
    user_id: int | None = None
    known: bool = False
    """The settings give its sender access."""
    event: str | None = None
    """The event in the log for an update that is not kept: ignored or unreadable."""
    chat_id: int | None = None
    topic_id: int | None = None
    payload: Mapping[str, Any] | None = None
    redacted: Any = None
    """The redacted update for the event log."""
    said: bool | None = None
    """The sender says something with this update."""
    telegram_message_id: int | None = None
    hold: float | None = None
    """How many seconds to wait for messages that may belong to it."""
    mergeable: bool | None = None
    """It may form one turn with what its sender says around it."""
    start: Asking | None = None
    """Start was pressed in the private chat."""
    knock: Asking | None = None
    """A stranger turned to the bot in a group."""

    def arguments(self) -> dict[str, object]:
        """Returns the arguments of `relay_intake`."""
        return {name: value for name, value in as_json(self).items() if value is not None}
