"""The buttons of sessions. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from relay.surfaces.chat.callbacks import Callback, callback


@callback("kp")
class ListSessions(Callback):
    """Shows the sessions starting at an offset."""

    offset: int


@callback("os")
class OpenSession(Callback):
    """Shows one session; `offset` leads back to the list."""

    session_id: int
    offset: int = 0


@callback("ko")
class EarlierOpenSession(Callback):
    """The same, as earlier versions wrote it."""

    session_id: int
    offset: int


@callback("or")
class RegisterSession(Callback):
    """Adds a session to the library, or removes it."""

    session_id: int
    on: bool
