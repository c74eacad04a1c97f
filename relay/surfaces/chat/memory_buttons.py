"""The buttons about memory. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.core.frozen import frozen
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.memory_views import HistoryView, View


@frozen
class MemoryCallback(Callback):
    """A button on a memory's card; `view` leads back to the list."""

    memory_id: int
    view: View


@callback("ml")
class ListMemories(Callback):
    """Shows a page of the memories. Space 0 is the person's own."""

    space_id: int
    view: View


@callback("mb")
class ListPeople(Callback):
    """Shows the people of a group, to choose one."""

    space_id: int


@callback("mo")
class OpenMemory(MemoryCallback):
    """Opens a memory from a list."""


@callback("mw")
class TraceMemory(MemoryCallback):
    """Shows where a memory came from."""


@callback("mp")
class PinMemory(MemoryCallback):
    """Pins a memory: it comes first in every prompt."""


@callback("mq")
class UnpinMemory(MemoryCallback):
    """Unpins a memory."""


@callback("mg")
class ValidateMemory(MemoryCallback):
    """Says that a memory is right."""


@callback("mf")
class ForgetMemory(MemoryCallback):
    """Forgets a memory; the same page has a button that undoes it."""


@callback("mr")
class RestoreMemory(MemoryCallback):
    """Restores a memory that was archived or replaced."""


@callback("mh")
class ListPast(Callback):
    """Shows a page of one memory's changes."""

    memory_id: int
    page: int


@callback("mv")
class RestoreWording(Callback):
    """Restores a memory's wording from before a change."""

    memory_id: int
    change_id: int
    page: int


@callback("mu")
class UndoInCard(Callback):
    """Undoes the last change of an open memory."""

    change_id: int
    view: View


@callback("e")
class EditMemory(Callback):
    """Asks for a new wording of a memory."""

    memory_id: int


@callback("mc")
class ListChanges(Callback):
    """Shows a page of a space's changes."""

    space_id: int
    view: HistoryView


@callback("md")
class DecideInList(Callback):
    """Undoes (u), keeps (k) or discards (x) a change in the list of changes."""

    change_id: int
    decision: Literal["u", "k", "x"]
    view: HistoryView


@callback("ma")
class DecideWaiting(Callback):
    """Keeps (k) or discards (x) all waiting changes."""

    space_id: int
    decision: Literal["k", "x"]


@callback("u")
class OpenChanges(Callback):
    """Shows a button for each change of a turn."""

    turn_id: int


@callback("c")
class CloseChanges(Callback):
    """Hides those buttons again."""

    turn_id: int


@callback("d")
class DecideChange(Callback):
    """Undoes (u), keeps (k) or discards (x) a change under an answer; n chooses none of the candidates."""

    change_id: int
    decision: Literal["u", "k", "x", "n"]


@callback("fa")
class ForgetCandidates(Callback):
    """Forgets all the candidates of a turn."""

    turn_id: int


@callback("fy")
class ForgetOne(Callback):
    """Forgets the one memory that may be meant (k), or keeps it (x)."""

    change_id: int
    decision: Literal["k", "x"]


@callback("fp")
class ForgetShown(Callback):
    """Forgets the memories that match a pattern (y), keeps them (n), or undoes the forgetting (u)."""

    turn_id: int
    decision: Literal["y", "n", "u"]


@callback("k")
class KeepAnswer(Callback):
    """Proposes to save an answer as a learning."""

    turn_id: int


@callback("mk")
class ShowControls(Callback):
    """Shows the switches of a space's memory."""

    space_id: int


@callback("ms")
class PressSwitch(Callback):
    """Turns a space's memory on or off, or pauses it."""

    space_id: int
    to: Literal["on", "off", "2h", "1d", "end"]


@callback("mt")
class PressHere(Callback):
    """Sets whether this chat uses memory and adds to it."""

    to: Literal["ignore", "use", "quiet", "teach"]


@callback("xe")
class EraseShown(Callback):
    """Erases the content of a preview."""

    erasure_id: int


@callback("xk")
class KeepShown(Callback):
    """Cancels an erasure."""

    erasure_id: int


@callback("xf")
class ClearFiles(Callback):
    """Rewrites the database's files."""

    erasure_id: int


@callback("xp")
class PurgeBackups(Callback):
    """Replaces all backups with a fresh one."""

    erasure_id: int


@callback("nt")
class SettleConsolidation(Callback):
    """Applies what a night proposed (y), or leaves everything as it is (n)."""

    consolidation_id: int
    answer: Literal["y", "n"]
