"""The buttons of markers. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from relay.surfaces.chat.callbacks import Callback, callback


@callback("il")
class ListKeepits(Callback):
    """Shows the markers of a session (0: of this conversation) starting at an offset."""

    session_id: int
    offset: int


@callback("ok")
class ListSessionKeepits(Callback):
    """Shows the markers of a session, from its page."""

    session_id: int


@callback("io")
class OpenKeepit(Callback):
    """Opens a marker; session and offset lead back to its list."""

    keepit_id: int
    session_id: int = 0
    offset: int = 0


@callback("iw")
class WeighKeepit(Callback):
    """Gives a marker another weight, in hundredths."""

    keepit_id: int
    percent: int
    session_id: int = 0
    offset: int = 0


@callback("ix")
class RemoveKeepit(Callback):
    """Removes a marker; the same page has a button that undoes it."""

    keepit_id: int
    session_id: int = 0
    offset: int = 0


@callback("iy")
class RestoreKeepit(Callback):
    """Brings a removed marker back."""

    keepit_id: int
    session_id: int = 0
    offset: int = 0


@callback("ik")
class KeepPassage(Callback):
    """Marks the passage that a turn remembers, with a weight in hundredths."""

    draft: int
    percent: int


@callback("ib")
class UndoTyped(Callback):
    """Removes the markers of a turn's message (1), or restores them (0)."""

    turn_id: int
    removed: bool
