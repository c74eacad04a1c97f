"""The buttons of markers. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from relay.surfaces.chat.callbacks import AboutKeepit, AboutSession, AboutTurn, Callback


class ListKeepits(AboutSession, code="il"):
    """Shows the markers of a session (0: of this conversation) starting at an offset."""

    offset: int


class ListSessionKeepits(AboutSession, code="ok"):
    """Shows the markers of a session, from its page."""


class ListedKeepit(AboutKeepit):
    """Session and offset lead back to the list."""

    session_id: int = 0
    offset: int = 0


class OpenKeepit(ListedKeepit, code="io"):
    """Opens a marker."""


class WeighKeepit(AboutKeepit, code="iw"):
    """Gives a marker another weight, in hundredths."""

    percent: int
    session_id: int = 0
    offset: int = 0


class RemoveKeepit(ListedKeepit, code="ix"):
    """Removes a marker; the same page has a button that undoes it."""


class RestoreKeepit(ListedKeepit, code="iy"):
    """Brings a removed marker back."""


class KeepPassage(Callback, code="ik"):
    """Marks the passage that a turn remembers, with a weight in hundredths."""

    draft: int
    percent: int


class UndoTyped(AboutTurn, code="ib"):
    """Removes the markers of a turn's message (1), or restores them (0)."""

    removed: bool
