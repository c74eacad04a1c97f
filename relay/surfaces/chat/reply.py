"""What chat handlers return: Markdown, buttons and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relay.core.errors import NotAllowed, RelayError
from relay.core.models import Button, Export, File, Rows
from relay.core.text import escape_sentence
from relay.memory.rows.changes import Failure, MemoryChange
from relay.surfaces.chat.callbacks import Callback, encode
from relay.surfaces.chat.context import ChatContext


@dataclass(frozen=True, slots=True)
class CommandReply:
    """The answer to a command: Markdown (empty: nothing), and what it changed in memory."""

    text: str
    changes: Sequence[MemoryChange] = ()
    failed: Sequence[Failure] = ()
    rows: Rows = ()
    private: bool = False
    """For the person alone: in a group, it goes to their private chat."""
    asks: str = ""
    """It is a question, answered by a reply to it: the field's placeholder. Its text begins as `question` makes it."""
    file: File | Export | None = None
    aloud: str = ""
    """Markdown to send as a voice note."""
    refused: bool = False
    """What was asked is not done; the text says why."""
    result: object = None
    """The command's result, which this shows: `--json` prints it."""


@dataclass(frozen=True, slots=True)
class ButtonReply:
    """What a button did: a line that pops up, and what becomes of the message it hangs under."""

    toast: str = ""
    text: str | None = None
    """Replaces the message's text (Markdown), with `rows` under it."""
    rows: Rows | None = None
    """Replace its buttons."""
    says: CommandReply | None = None
    """A message of its own."""
    result: object = None
    """The command's result, which this shows."""


NOTHING = "n"
"""The data of a button that only shows something."""
NOT_YOURS = ButtonReply("This is not yours to decide.")


def own(call: ChatContext, user_id: int) -> None:
    """Raises `NotAllowed` where somebody else presses a person's own button."""
    if user_id != call.user_id:
        raise NotAllowed


def question(word: str, number: int = 0) -> str:
    """How a question begins, so that the reply to it is understood after a restart too. Where there is no word, its
    number is a memory's id, not the number that people see."""
    return " ".join(part for part in ("✎", word, f"{'#' * bool(word)}{number}" if number else "") if part)


def button(label: str, data: str | Callback) -> Button:
    """An inline button, by its callback."""
    return Button(label, data if isinstance(data, str) else encode(data))


def nothing(label: str) -> Button:
    """A button that only shows something."""
    return Button(label, NOTHING)


def cause(call: ChatContext, error: RelayError) -> str:
    """What went wrong (Markdown): all of it for people who run Relay, in private."""
    return escape_sentence(error.told_to(call.operator))
