"""The buttons about memory. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.surfaces.chat.callbacks import AboutSpace, AboutTurn, Callback
from relay.surfaces.chat.memory_views import HistoryView, View


class ListMemories(AboutSpace, code="ml"):
    """Shows a page of the memories. Space 0 is the person's own."""

    view: View


class ListPeople(AboutSpace, code="mb"):
    """Shows the people of a group, to choose one."""


class OpenMemory(Callback, code="mo"):
    """Opens a memory from a list; `view` leads back to it."""

    memory_id: int
    view: View


class EditMemory(Callback, code="e"):
    """Asks for a new wording of a memory."""

    memory_id: int


class ListChanges(AboutSpace, code="mc"):
    """Shows a page of a space's changes."""

    view: HistoryView


class DecideInList(Callback, code="md"):
    """Undoes (u), keeps (k) or discards (x) a change in the list of changes."""

    change_id: int
    decision: Literal["u", "k", "x"]
    view: HistoryView


class DecideWaiting(AboutSpace, code="ma"):
    """Keeps (k) or discards (x) all waiting changes."""

    decision: Literal["k", "x"]


class OpenChanges(AboutTurn, code="u"):
    """Shows a button for each change of a turn."""


class CloseChanges(AboutTurn, code="c"):
    """Hides those buttons again."""


class DecideChange(Callback, code="d"):
    """Undoes (u), keeps (k) or discards (x) a change under an answer; n chooses none of the candidates."""

    change_id: int
    decision: Literal["u", "k", "x", "n"]


class ForgetCandidates(AboutTurn, code="fa"):
    """Forgets all the candidates of a turn."""


class ForgetOne(Callback, code="fy"):
    """Forgets the one memory that may be meant (k), or keeps it (x)."""

    change_id: int
    decision: Literal["k", "x"]


class KeepAnswer(AboutTurn, code="k"):
    """Proposes to save an answer as a learning."""


class ShowControls(AboutSpace, code="mk"):
    """Shows the switches of a space's memory."""
