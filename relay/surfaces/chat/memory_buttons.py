"""The buttons about memory. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.surfaces.chat.callbacks import AboutSpace, AboutTurn, Callback
from relay.surfaces.chat.memory_views import HistoryView, View


class MemoryCallback(Callback):
    """A button on a memory's card; `view` leads back to the list."""

    memory_id: int
    view: View


class ListMemories(AboutSpace, code="ml"):
    """Shows a page of the memories. Space 0 is the person's own."""

    view: View


class ListPeople(AboutSpace, code="mb"):
    """Shows the people of a group, to choose one."""


class OpenMemory(MemoryCallback, code="mo"):
    """Opens a memory from a list."""


class TraceMemory(MemoryCallback, code="mw"):
    """Shows where a memory came from."""


class PinMemory(MemoryCallback, code="mp"):
    """Pins a memory: it comes first in every prompt."""


class UnpinMemory(MemoryCallback, code="mq"):
    """Unpins a memory."""


class ValidateMemory(MemoryCallback, code="mg"):
    """Says that a memory is right."""


class ForgetMemory(MemoryCallback, code="mf"):
    """Forgets a memory; the same page has a button that undoes it."""


class RestoreMemory(MemoryCallback, code="mr"):
    """Restores a memory that was archived or replaced."""


class ListPast(Callback, code="mh"):
    """Shows a page of one memory's changes."""

    memory_id: int
    page: int


class RestoreWording(Callback, code="mv"):
    """Restores a memory's wording from before a change."""

    memory_id: int
    change_id: int
    page: int


class UndoInCard(Callback, code="mu"):
    """Undoes the last change of an open memory."""

    change_id: int
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
