"""The buttons of sessions. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from relay.surfaces.chat.callbacks import AboutSession, Callback


class ListSessions(Callback, code="kp"):
    """Shows the sessions from an offset on."""

    offset: int


class OpenSession(AboutSession, code="os"):
    """Shows one session; `offset` leads back to the list."""

    offset: int = 0


class EarlierOpenSession(AboutSession, code="ko"):
    """The same, as earlier versions wrote it."""

    offset: int


class RegisterSession(AboutSession, code="or"):
    """Puts a session into the library, or takes it out."""

    on: bool
