"""The buttons of contexts that several pages show. Their handlers are with the pages that they lead to."""

from __future__ import annotations

from relay.surfaces.chat.callbacks import AboutTurn, Callback


class OpenSession(Callback, code="os"):
    """Shows one session; `offset` leads back to the list."""

    session_id: int
    offset: int = 0


class ListVersions(Callback, code="ov"):
    """Shows a session's versions starting at an offset."""

    session_id: int
    offset: int = 0


class ListKeepits(Callback, code="il"):
    """Shows the markers of a session (0: of this conversation) starting at an offset."""

    session_id: int
    offset: int


class UndoTyped(AboutTurn, code="ib"):
    """Removes the markers of a turn's message (1), or restores them (0)."""

    removed: bool
