"""What chat handlers return: Markdown, buttons and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from relay.core.errors import NotAllowed, RelayError
from relay.core.frozen import frozen
from relay.core.models import Button, Export, File, Rows
from relay.core.text import escape_sentence
from relay.memory.rows.changes import Failure, MemoryChange
from relay.surfaces.chat.callbacks import Callback, encode
from relay.surfaces.chat.context import ChatContext


@frozen
class CommandReply:
    """The reply to a command: Markdown (empty: no reply), and its changes to memory."""

    text: str
    changes: Sequence[MemoryChange] = ()
    failed: Sequence[Failure] = ()
    rows: Rows = ()
    private: bool = False
    """Only the person may see it: in a group, it goes to their private chat."""
    asks: str = ""
    """The placeholder of the reply field, if this is a question. Its text begins with `question(…)`."""
    file: File | Export | None = None
    aloud: str = ""
    """Markdown to send as a voice note."""
    refused: bool = False
    """The command did nothing; the text says why."""
    wrong: bool = False
    """It was refused because what was given is out of range."""
    result: object = None
    """The command's result; `--json` prints it."""

    def returning(self, result: object, private: bool = False) -> CommandReply:
        """Adds the command's result."""
        return replace(self, result=result, private=private)

    def redraw(self, toast: str = "", refused: bool = False) -> ButtonReply:
        """Puts the reply in place of the message above the button."""
        return ButtonReply(toast, self.text, self.rows, refused=refused, result=self.result)


@frozen
class ButtonReply:
    """The reply to a button: a line that pops up, and changes to the message above the button."""

    toast: str = ""
    text: str | None = None
    """Replaces the message's text (Markdown), with `rows` under it."""
    rows: Rows | None = None
    """Replaces its buttons."""
    says: CommandReply | None = None
    """A new message."""
    refused: bool = False
    """The button did nothing; the toast or the text says why."""
    result: object = None
    """The command's result."""


NOTHING = "n"
"""The data of a button that only shows something."""


def require_own(call: ChatContext, user_id: int) -> None:
    """Raises `NotAllowed` unless the person presses their own button."""
    if user_id != call.user_id:
        raise NotAllowed


def question(word: str, number: int = 0) -> str:
    """Returns the beginning of a question, from which its reply is understood even after a restart. Without a word,
    the number is a memory's id, not the number that people see."""
    return " ".join(part for part in ("✎", word, f"{'#' * bool(word)}{number}" if number else "") if part)


def button(label: str, data: str | Callback, ticked: bool = False) -> Button:
    """Makes an inline button. `ticked`: it has a tick, because it is the present choice."""
    return Button(f"✓ {label}" if ticked else label, data if isinstance(data, str) else encode(data))


def arrange(row: list[Button], width: int) -> list[list[Button]]:
    """Arranges buttons in rows of at most so many."""
    return [row[first : first + width] for first in range(0, len(row), width)]


def step_rows(
    offset: int, size: int, total: int, to: Callable[[int], Callback], labels: tuple[str, str] = ("‹ Newer", "Older ›")
) -> list[list[Button]]:
    """Returns a row of buttons to the pages before and after an offset; no row if there are none."""
    row = [button(labels[0], to(max(0, offset - size)))] if offset > 0 else []
    row += [button(labels[1], to(offset + size))] if offset + size < total else []
    return [row] if row else []


def wheel_rows(number: int, total: int, to: Callable[[int], Callback]) -> list[list[Button]]:
    """Returns a row of buttons that go round in a circle of pages, from 1; no row for a single page."""
    if total < 2:
        return []
    back, on = to((number - 2) % total + 1), to(number % total + 1)
    return [[button("‹", back), button(f"{number}/{total}", NOTHING), button("›", on)]]


def cause(call: ChatContext, error: RelayError) -> str:
    """Describes an error (Markdown); in full only for admins in private."""
    return escape_sentence(error.message_for(call.operator))


def app_rows(call: ChatContext, path: str, label: str = "Open in the app") -> list[list[Button]]:
    """Returns a row with a button that opens a page of the app, such as `/sessions`. No row outside of private chats,
    where Telegram opens no apps, and none without RELAY_WEB_URL."""
    url = call.services.installation.web_url
    if not url or not call.private or not call.bot_id:
        return []
    return [[Button(label, web_app=f"{url}/#{path}" if path else f"{url}/")]]
