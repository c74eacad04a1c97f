"""The buttons of /compose. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.surfaces.chat.callbacks import Callback, callback


@callback("ou")
class UseSession(Callback):
    """Begins a draft with a session, from the session's page."""

    session_id: int


@callback("bs")
class ChooseSessions(Callback):
    """Shows the sessions to choose from, starting at an offset; `everywhere`: of all conversations."""

    draft_id: int
    offset: int
    everywhere: bool


@callback("bt")
class TakeSession(Callback):
    """Adds or removes a session; `offset` is the page to show."""

    draft_id: int
    session_id: int
    on: bool
    offset: int


@callback("bc")
class ShowDraft(Callback):
    """Shows the draft."""

    draft_id: int


@callback("bb")
class ChooseBudget(Callback):
    """Sets the budget in tokens; 0 asks for one."""

    draft_id: int
    budget: int


@callback("by")
class ChooseStrategy(Callback):
    """Sets how the budget is shared."""

    draft_id: int
    strategy: Literal["equal", "recency", "proportional"]


@callback("bp")
class ShowPart(Callback):
    """Shows what can be included of a session."""

    draft_id: int
    session_id: int


@callback("bv")
class ChooseVersion(Callback):
    """Chooses what to include of a session: auto, original, new or a version such as v002."""

    draft_id: int
    session_id: int
    version: str


@callback("bm")
class MakeDraft(Callback):
    """Makes the composition of a draft."""

    draft_id: int


@callback("ba")
class AllocatePart(Callback):
    """Sets the tokens of a session; 0: its share of the budget."""

    draft_id: int
    session_id: int
    tokens: int


@callback("bw")
class MovePart(Callback):
    """Moves a session by one place."""

    draft_id: int
    session_id: int
    later: bool
