"""The buttons of sessions. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from relay.surfaces.chat.callbacks import AboutSession, Callback


class ListSessions(Callback, code="kp"):
    """Shows the sessions starting at an offset."""

    offset: int


class OpenSession(AboutSession, code="os"):
    """Shows one session; `offset` leads back to the list."""

    offset: int = 0


class EarlierOpenSession(AboutSession, code="ko"):
    """The same, as earlier versions wrote it."""

    offset: int


class RegisterSession(AboutSession, code="or"):
    """Adds a session to the library, or removes it."""

    on: bool
