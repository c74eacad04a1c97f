"""The `Messenger` port at a terminal: what the bot sends is printed."""

from __future__ import annotations

import contextlib
import sys
import time
from itertools import takewhile
from typing import Any

from relay.checks.live import telegram_knows
from relay.errors import MessengerError
from relay.models import File
from relay.settings import Settings


class Terminal:
    """The `Messenger` port on standard output. `settings`: who the bot is at Telegram, which is asked then."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last_id = time.time_ns() // 1_000_000
        self._printed = ""
        self.buttons: list[tuple[str, str, int]] = []
        """What can be pressed: label, data, and the message it hangs under."""
        self.asking: dict[str, Any] | None = None
        """The question that was asked last: the next line is the reply to it."""

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def call(self, method: str, **parameters: Any) -> Any:
        """See `ports.Messenger.call`."""
        if method == "sendMessageDraft":
            self._grow(parameters["text"])
        elif method in ("sendMessage", "editMessageText"):
            self._grow(parameters["text"], last=True)
            message_id = parameters.get("message_id") or self.next_id()
            self._offer(parameters.get("reply_markup"), message_id)
            posted = {"message_id": message_id, "text": parameters["text"]}
            if (parameters.get("reply_markup") or {}).get("force_reply"):
                self.asking = posted
            return posted
        elif method in ("sendPhoto", "sendDocument"):
            self._show(parameters.get("photo") or parameters["document"])
            message_id = self.next_id()
            self._offer(parameters.get("reply_markup"), message_id)
            return {"message_id": message_id}
        elif method == "editMessageReplyMarkup":
            self._offer(parameters.get("reply_markup"), parameters["message_id"])
        elif method == "answerCallbackQuery" and parameters.get("text"):
            print(f"({parameters['text']})")
        elif method == "getMe" and self._settings.telegram_bot_token:
            return await telegram_knows(self._settings.telegram_bot_token, self._settings.telegram_api_url)
        return 2 if method == "getChatMemberCount" else True

    async def fetch(self, file_id: str, most: int) -> bytes:
        """See `ports.Messenger.fetch`."""
        raise MessengerError("Files can be sent in Telegram, not in the terminal.")

    def _grow(self, text: str, last: bool = False) -> None:
        """Prints what is new of a growing answer; one that has become another, from the first other line on."""
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

    def _show(self, file: File) -> None:
        """A picture by its name and size; a document with its text, if it is one."""
        kind = "picture" if file.picture else "document"
        print(f"[{kind} {file.name}, {-(-len(file.whole()) // 1024)} KB]")
        with contextlib.suppress(UnicodeDecodeError):
            if not file.picture:
                print(file.whole().decode())
        sys.stdout.flush()

    def _offer(self, markup: dict[str, Any] | None, message_id: int) -> None:
        rows = (markup or {}).get("inline_keyboard") or []
        self.buttons = [(b["text"], b["callback_data"], message_id) for row in rows for b in row] or self.buttons
        if rows:
            print("  ".join(f"[{i}] {label}" for i, (label, _, _) in enumerate(self.buttons, 1)))


def ripe(draft: str, printed: str) -> str:
    """What of a draft will look the same in the answer: its whole lines, but for a table's, whose columns still move.
    One that shows only the end of the answer is joined to what was printed of it."""
    lines = draft.split("\n")[:-1]
    while lines and ("|" in lines[-1] or "--" in lines[-1]):
        lines.pop()
    text = "".join(f"{line}\n" for line in lines)
    if not text.startswith("…\n"):
        return text
    end = text[2:]
    at = printed.rfind(end[:60])
    return printed[:at] + end if at >= 0 else printed
