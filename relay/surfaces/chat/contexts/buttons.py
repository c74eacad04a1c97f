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


class ListedKeepit(Callback):
    """Session and offset lead back to the list."""

    keepit_id: int
    session_id: int = 0
    offset: int = 0


class WeighKeepit(Callback, code="iw"):
    """Gives a marker another weight, in hundredths."""

    keepit_id: int
    percent: int
    session_id: int = 0
    offset: int = 0


class RemoveKeepit(ListedKeepit, code="ix"):
    """Removes a marker; the same page has a button that undoes it."""


class RestoreKeepit(ListedKeepit, code="iy"):
    """Brings a removed marker back."""


class UndoTyped(AboutTurn, code="ib"):
    """Removes the markers of a turn's message (1), or restores them (0)."""

    removed: bool
