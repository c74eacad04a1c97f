"""An answer as Telegram messages: its text, the line about memory, and its buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.bot.format import format_reply
from relay.bot.place import Place
from relay.models import Answer, File
from relay.verbs.changes import closed_row, memory_line
from relay.verbs.registry import button

Json = dict[str, Any]
TOOL_NAMES = {
    "search_history": "searched earlier messages",
    "web_search": "searched the web",
    "web_fetch": "read a web page",
}


def answer_parts(answer: Answer, place: Place, turn_id: int) -> list[Json]:
    """The parts of a reply to store and send: one request each, the first with the sound, the last with the buttons."""
    by = f"Written by {answer.model}" if answer.model else ""
    memory = memory_line([*answer.withdrawn, *answer.changes], answer.failed)
    footer = " · ".join(part for part in (answer.note, by, memory) if part)
    tools = ", ".join(dict.fromkeys(TOOL_NAMES.get(name, name) for name in answer.tools))
    text = answer.text or ("" if footer else "👌")
    return message_parts(text, place, answer_buttons(answer, turn_id), footer, f"🔎 {tools}" if tools else "")


def message_parts(
    markdown: str,
    place: Place,
    buttons: Sequence[Sequence[Json]] = (),
    footer: str = "",
    tools: str = "",
    silent: bool = False,
    file: File | None = None,
) -> list[Json]:
    """Any text of ours as parts of a delivery. `silent`: no part makes a sound. `file`: comes last."""
    formatted = format_reply(markdown, footer=footer, tools=tools)
    parts: list[Json] = []
    for seq, message in enumerate(formatted, 1):
        request: Json = {
            **place.address(),
            "text": message.text,
            "entities": message.entities,
            "link_preview_options": {"is_disabled": True},
        }
        if silent or seq > 1:
            request["disable_notification"] = True
        if seq == 1:
            request |= place.reply()
        if buttons and seq == len(formatted):
            request["reply_markup"] = {"inline_keyboard": [list(row) for row in buttons]}
        parts.append({"seq": seq, "chat_id": place.chat_id, "request": request})
    return parts


def answer_buttons(answer: Answer, turn_id: int) -> list[list[Json]]:
    """Under an answer: what memory did can be undone, what failed can be tried again."""
    rows = closed_row(answer.changes, turn_id)
    if answer.retry:
        rows.append([button("↻ Retry", f"r:{turn_id}")])
    if answer.web:
        rows.append([button("🌐 Answer with the web", f"w:{turn_id}")])
    return rows
