"""The buttons of /compose. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.surfaces.chat.callbacks import AboutDraft, AboutSession


class UseSession(AboutSession, code="ou"):
    """Begins a draft with a session, from the session's page."""


class ChooseSessions(AboutDraft, code="bs"):
    """Shows the sessions to choose from, starting at an offset; `everywhere`: of all conversations."""

    offset: int
    everywhere: bool


class TakeSession(AboutDraft, code="bt"):
    """Adds or removes a session; `offset` is the page to show."""

    session_id: int
    on: bool
    offset: int


class ShowDraft(AboutDraft, code="bc"):
    """Shows the draft."""


class ChooseBudget(AboutDraft, code="bb"):
    """Sets the budget in tokens; 0 asks for one."""

    budget: int


class ChooseStrategy(AboutDraft, code="by"):
    """Sets how the budget is shared."""

    strategy: Literal["equal", "recency", "proportional"]


class ShowPart(AboutDraft, code="bp"):
    """Shows what can be included of a session."""

    session_id: int


class ChooseVersion(AboutDraft, code="bv"):
    """Chooses what to include of a session: auto, original, new or a version such as v002."""

    session_id: int
    version: str


class MakeDraft(AboutDraft, code="bm"):
    """Makes the composition of a draft."""


class AllocatePart(AboutDraft, code="ba"):
    """Sets the tokens of a session; 0: its share of the budget."""

    session_id: int
    tokens: int


class MovePart(AboutDraft, code="bw"):
    """Moves a session by one place."""

    session_id: int
    later: bool
