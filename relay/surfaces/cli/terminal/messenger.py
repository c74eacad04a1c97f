"""The `Messenger` port at a terminal: it prints what the bot sends."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import Any

from relay.core.errors import MessengerError
from relay.core.models import File
from relay.core.private_files import FileRefused, write_atomically
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.surfaces.chat import COMMANDS
from relay.surfaces.cli.doctor.live import telegram_knows

SHOWN = frozenset({"sendMessage", "editMessageText", "sendPhoto", "sendDocument", "editMessageReplyMarkup"})
NAMES = "|".join(sorted(name for name, command in COMMANDS.items() if "cli" in command.surfaces))
COMMAND = re.compile(rf"(?<![\w/.:#])/({NAMES})\b( --erase)?( (?:#|&#35;)(?=[0-9]))?")
REMEMBERED = 200
"""How many messages' texts are kept, in case the messages are edited."""


class Terminal:
    """The `Messenger` port on standard output. `settings`: their token is used to ask Telegram about the bot."""

    def __init__(self, settings: Settings, pressable: bool = True) -> None:
        """`pressable`: shows buttons, because a person can press them."""
        self._settings = settings
        self._pressable = pressable
        self._last_id = time.time_ns() // 1_000_000
        self._printed = ""
        self._texts: dict[int, str] = {}
        """The text printed last, by message id. For an edited message, only the new text is printed."""
        self._held: list[tuple[str, dict[str, Any]]] | None = None
        self.buttons: list[tuple[str, str, int]] = []
        """The buttons that can be pressed: label, data, and the id of their message."""
        self.unwritten = False
        """Whether a file could not be written."""
        self.asking: dict[str, Any] | None = None
        """The last question, to which the next line is the reply; None if nothing was asked."""

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    @contextlib.contextmanager
    def hold_back(self) -> Iterator[None]:
        """Holds back output while a person types, and prints it at the end."""
        self._held = []
        try:
            yield
        finally:
            late, self._held = self._held, None
            for method, parameters in late:
                self._show(method, parameters)

    async def call(self, method: str, **parameters: Any) -> Any:
        if method in SHOWN:
            if method.startswith("send"):
                parameters["message_id"] = self.next_id()
            if self._held is None:
                self._show(method, parameters)
            else:
                self._held.append((method, parameters))
            return {"message_id": parameters["message_id"], "text": parameters.get("text")}
        if method == "sendMessageDraft":
            self._grow(parameters["text"])
        elif method == "answerCallbackQuery" and parameters.get("text"):
            print(f"({parameters['text']})")
        elif method == "getMe" and self._settings.telegram_bot_token:
            return asdict(await telegram_knows(self._settings))
        return 2 if method == "getChatMemberCount" else True

    async def fetch(self, file_id: str, most: int) -> bytes:
        raise MessengerError("You can send files in Telegram, not in the terminal.")

    def _show(self, method: str, parameters: dict[str, Any]) -> None:
        """Prints a message, the new part of an edited one, or the path of a file."""
        message_id, markup = parameters["message_id"], parameters.get("reply_markup")
        text = None
        if "text" in parameters:
            text = parameters["text"] if self._printed else format_marked(parameters)
        if method in ("sendPhoto", "sendDocument"):
            file = parameters.get("photo") or parameters["document"]
            with contextlib.suppress(UnicodeDecodeError):
                if not file.picture:
                    print(file.whole().decode())
            try:
                print(save_file(file), flush=True)
            except FileRefused as error:
                print(f"[{file.name} was not written: {error}]", flush=True)
                self.unwritten = True
        elif text is not None:
            before = self._texts.get(message_id, "")
            if method == "editMessageText" and not before:  # an earlier conversation's message: prints what was learned
                print(text.rpartition("\n\n")[2], flush=True)
            elif before and text.startswith(before):
                if new := text[len(before) :].strip(" \n·"):
                    print(new, flush=True)
            else:
                self._grow(text, last=True)
            while len(self._texts) >= REMEMBERED:
                self._texts.pop(next(iter(self._texts)))
            self._texts[message_id] = text
            if (markup or {}).get("force_reply"):
                self.asking = {"message_id": message_id, "text": parameters["text"]}
        self._offer(markup, message_id)

    def _grow(self, text: str, last: bool = False) -> None:
        """Prints the new part of a growing answer, from the first line that differs."""
        printed = self._printed
        if not last:
            line = text[text.rfind("\n") + 1 :]
            if line.startswith("⏳"):
                print(line, flush=True)
                return
            text = ripe(text, printed)
            if not text.startswith(printed):
                return
        elif printed.startswith(text):
            self._printed = printed[len(text) :].lstrip("\n")
            return
        elif not text.startswith(printed):
            lines = zip(printed.splitlines(True), text.splitlines(True), strict=False)
            printed = "".join(line for line, other in takewhile(lambda pair: pair[0] == pair[1], lines))
            sys.stdout.write("" if printed else "\n")
        sys.stdout.write(text[len(printed) :] + ("\n" if last else ""))
        sys.stdout.flush()
        self._printed = "" if last else text

    def _offer(self, markup: dict[str, Any] | None, message_id: int) -> None:
        """Shows a message's buttons. They can be pressed until the next message has some."""
        rows = (markup or {}).get("inline_keyboard") or []
        if rows:
            self.buttons = [(b["text"], b.get("callback_data", ""), message_id) for row in rows for b in row]
        else:
            self.buttons = [one for one in self.buttons if one[2] != message_id]
        if rows and self._pressable:
            print("  ".join(f"[{i}] {label}" for i, (label, _, _) in enumerate(self.buttons, 1)))


def format_marked(message: dict[str, Any]) -> str:
    """Returns a message's text with struck-out parts as [-…-], so that differences show."""
    text = message["text"].encode("utf-16-le")
    for one in sorted(message.get("entities") or (), key=lambda one: -int(one["offset"])):
        if one["type"] == "strikethrough":
            start, end = 2 * one["offset"], 2 * (one["offset"] + one["length"])
            before, after = "[-".encode("utf-16-le"), "-]".encode("utf-16-le")
            text = text[:start] + before + text[start:end] + after + text[end:]
    return str(text.decode("utf-16-le", "replace"))


def name_commands(markdown: str) -> str:
    """Replaces commands of the chat, in a text by Relay (Markdown), with those of the shell. People's words in it are
    escaped (`escape_markdown`), so they stay unchanged."""
    return COMMAND.sub(
        lambda found: f"{RELAY} {'memory erase' if found[2] else found[1]}{' ' if found[3] else ''}", markdown
    )


def save_file(file: File) -> str:
    """Writes a file into the current folder, readable only by the user. Returns a line with its path. If the name is
    taken, the new file gets a number. Raises `FileRefused`."""
    name = Path(file.name).name
    for number in range(1, 1000):
        path = Path.cwd() / (name if number == 1 else f"{Path(name).stem}-{number}{Path(name).suffix}")
        if path.exists():
            continue
        with write_atomically(path) as target:
            target.write(file.whole())
        return f"[{name}, {-(-len(file.whole()) // 1024)} KB: {path}]"
    raise FileRefused("This folder already has a thousand files of that name.")


def ripe(draft: str, printed: str) -> str:
    """Returns the part of a draft that the answer won't change: complete lines, except those of a table, whose columns
    still move. A draft with only the end of the answer is joined to the printed text."""
    lines = draft.split("\n")[:-1]
    while lines and ("|" in lines[-1] or "--" in lines[-1]):
        lines.pop()
    text = "".join(f"{line}\n" for line in lines)
    if not text.startswith("…\n"):
        return text
    end = text[2:]
    at = printed.rfind(end[:60])
    return printed[:at] + end if at >= 0 else printed
