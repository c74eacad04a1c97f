"""The buttons of the memory subject, as typed values. Their data stays in chats: codes and fields never change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from relay.core.text import parse_number
from relay.memory.rows.memories import MemoryFilter
from relay.surfaces.chat.callbacks import Callback, callback

WORDS = 32
"""Bytes of a search: what a button's data has room for."""
LAST_PAGE = 999_999
CHOSEN = {
    "a": MemoryFilter(),
    "f": MemoryFilter(facts=True),
    "t": MemoryFilter(kind="fact"),
    "r": MemoryFilter(kind="preference"),
    "d": MemoryFilter(kind="decision"),
    "g": MemoryFilter(kind="goal"),
    "e": MemoryFilter(kind="event"),
    "h": MemoryFilter(kind="person"),
    "m": MemoryFilter(kind="feeling"),
    "l": MemoryFilter(kind="learning"),
    "i": MemoryFilter(kind="learning", category="identity"),
    "k": MemoryFilter(kind="learning", category="knowledge"),
    "o": MemoryFilter(kind="learning", category="operational"),
    "p": MemoryFilter(pinned=True),
    "z": MemoryFilter(past=True),
}
"""The filters of a list, by the letters that stand for them in buttons."""


def page_in(text: str) -> int:
    """The page that a text names, from 1; the first where it names none."""
    return min(max(parse_number(text) or 1, 1), LAST_PAGE)


@dataclass(frozen=True, slots=True)
class View:
    """What of a list is shown: a filter (one of CHOSEN, `u` with a person's id, `w` for words) and a page from 1."""

    chosen: str = "a"
    page: int = 1
    words: str = ""

    @classmethod
    def decode(cls, text: str) -> View:
        """The view that a button's data names; the beginning of everything when it names none."""
        chosen, _, rest = text.partition(".")
        page, _, words = rest.partition(".")
        if chosen not in CHOSEN and not re.fullmatch(r"u[0-9]{1,18}", chosen) and (chosen != "w" or not words):
            return cls()
        if len(words.encode("utf-8", "replace")) > WORDS:
            return cls()
        return cls(chosen, page_in(page), words if chosen == "w" else "")

    @classmethod
    def search(cls, text: str) -> View:
        """A search for as many of these words as a button's data can carry."""
        text = " ".join(text.replace(":", " ").split())
        words = text.encode("utf-8", "ignore")[:WORDS].decode("utf-8", "ignore").strip()
        if len(words) < len(text) and text[len(words)] != " ":
            words = words.rpartition(" ")[0] or words
        return cls("w", 1, words) if words else cls()

    def encode(self) -> str:
        """As it stands in a button's data."""
        return f"{self.chosen}.{self.page}" + (f".{self.words}" if self.words else "")

    @property
    def filter(self) -> MemoryFilter:
        """The memories that it shows."""
        if self.chosen == "w":
            return MemoryFilter(words=self.words)
        return CHOSEN[self.chosen] if self.chosen in CHOSEN else MemoryFilter(subject_id=int(self.chosen[1:]))


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A page of changes: all of them, or those that wait for a tap."""

    waiting: bool = False
    page: int = 1

    @classmethod
    def decode(cls, text: str) -> HistoryView:
        """The view that a button's data names (`a.1`, `w.2`); the first page of all changes when it names none."""
        kind, _, page = text.partition(".")
        return cls(kind == "w", page_in(page))

    def encode(self) -> str:
        """As it stands in a button's data."""
        return f"{'w' if self.waiting else 'a'}.{self.page}"


@callback("ml")
class ListMemories(Callback):
    """A page of what is known. Space 0 is one's own."""

    space_id: int
    view: View


@callback("mb")
class ListPeople(Callback):
    """The people of a group, to choose one."""

    space_id: int


@callback("mo")
class OpenMemory(Callback):
    """One memory, opened from a list."""

    memory_id: int
    view: View


@callback("mw")
class TraceMemory(Callback):
    """Where a memory came from."""

    memory_id: int
    view: View


@callback("mp")
class PinMemory(Callback):
    """Pins a memory."""

    memory_id: int
    view: View


@callback("mq")
class UnpinMemory(Callback):
    """Unpins a memory."""

    memory_id: int
    view: View


@callback("mf")
class ForgetMemory(Callback):
    """Forgets a memory."""

    memory_id: int
    view: View


@callback("mr")
class RestoreMemory(Callback):
    """Brings back a memory that was put away or replaced."""

    memory_id: int
    view: View


@callback("mh")
class ListPast(Callback):
    """A page of one memory's changes."""

    memory_id: int
    page: int


@callback("mv")
class RestoreWording(Callback):
    """Lets a memory say again what it said before a change."""

    memory_id: int
    change_id: int
    page: int


@callback("mu")
class UndoInCard(Callback):
    """Undoes the last change of an opened memory."""

    change_id: int
    view: View


@callback("e")
class EditMemory(Callback):
    """Asks for another wording of a memory."""

    memory_id: int


@callback("mc")
class ListChanges(Callback):
    """A page of a space's changes."""

    space_id: int
    view: HistoryView


@callback("md")
class DecideInList(Callback):
    """Undoes (u), keeps (k) or discards (x) a change in the list of them."""

    change_id: int
    decision: Literal["u", "k", "x"]
    view: HistoryView


@callback("ma")
class DecideWaiting(Callback):
    """Keeps (k) or discards (x) all that waits."""

    space_id: int
    decision: Literal["k", "x"]


@callback("u")
class OpenChanges(Callback):
    """Unfolds what can be decided about a turn's changes."""

    turn_id: int


@callback("c")
class CloseChanges(Callback):
    """Folds it again."""

    turn_id: int


@callback("d")
class DecideChange(Callback):
    """Undoes (u), keeps (k) or discards (x) a change under an answer; n: none of those that may be meant."""

    change_id: int
    decision: Literal["u", "k", "x", "n"]


@callback("fa")
class ForgetAllMeant(Callback):
    """Forgets all memories that a turn's words may have meant."""

    turn_id: int


@callback("fp")
class ForgetShown(Callback):
    """Forgets what a pattern means (y), leaves it (n), or takes the forgetting back (u)."""

    turn_id: int
    decision: Literal["y", "n", "u"]


@callback("k")
class KeepAnswer(Callback):
    """Proposes to keep an answer as a learning."""

    turn_id: int


@callback("mk")
class ShowControls(Callback):
    """The switches of a space's memory."""

    space_id: int


@callback("ms")
class PressSwitch(Callback):
    """Switches a space's memory, or pauses it for a while."""

    space_id: int
    to: Literal["on", "off", "2h", "1d", "end"]


@callback("mt")
class PressHere(Callback):
    """Switches what this chat uses of memory and adds to it."""

    to: Literal["ignore", "use", "quiet", "teach"]


@callback("xe")
class EraseShown(Callback):
    """Erases what was shown."""

    erasure_id: int


@callback("xk")
class KeepShown(Callback):
    """Erases nothing of it."""

    erasure_id: int


@callback("xf")
class ClearFiles(Callback):
    """Writes the database's files anew."""

    erasure_id: int


@callback("xp")
class PurgeBackups(Callback):
    """Replaces all backups by a fresh one."""

    erasure_id: int


@callback("nt")
class SettleConsolidation(Callback):
    """Does what a night found (y), or leaves it (n)."""

    consolidation_id: int
    answer: Literal["y", "n"]
