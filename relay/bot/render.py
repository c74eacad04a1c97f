"""An answer as Telegram messages: its text, the line about memory, and its buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.bot.format import format_reply
from relay.bot.place import Place
from relay.models import Answer

Json = dict[str, Any]
TOOL_NAMES = {
    "search_history": "searched earlier messages",
    "web_search": "searched the web",
    "web_fetch": "read a web page",
}
SHORT = 90
BUTTON = 40


def answer_parts(answer: Answer, place: Place, turn_id: int) -> list[Json]:
    """The parts of a reply to store and send: one request each, the first with the sound, the last with the buttons."""
    footer = " · ".join(part for part in (answer.note, memory_line(answer.changes, answer.failed)) if part)
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
) -> list[Json]:
    """Any text of ours as parts of a delivery. `silent`: no part makes a sound."""
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
    rows: list[list[Json]] = []
    if answer.changes:
        pending = any(change["status"] == "pending" for change in answer.changes)
        rows.append([button("🧠 Keep or discard…" if pending else "↩ Undo / Edit…", f"u:{turn_id}")])
    if answer.retry:
        rows.append([button("↻ Retry", f"r:{turn_id}")])
    if answer.web:
        rows.append([button("🌐 Answer with the web", f"w:{turn_id}")])
    return rows


def button(label: str, data: str) -> Json:
    return {"text": label, "callback_data": data}


def short(text: str, length: int = SHORT) -> str:
    """A text on one line, cut to a length."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def memory_line(changes: Sequence[Json], failed: Sequence[Json]) -> str:
    """One small line about what memory did, and what it was asked but did not do."""
    told = [change_line(change) for change in changes if not asks_which(change, changes)]
    asked = [change for change in changes if asks_which(change, changes)]
    if asked:
        told.append(f"🧠 Which one should I forget? ({len(asked)} match)")
    told.extend(f"⚠️ {failure_line(failure)}" for failure in failed)
    return " · ".join(told)


def asks_which(change: Json, changes: Sequence[Json]) -> bool:
    """Whether a change is one of several that its words may have meant."""
    waiting = [c for c in changes if c["action"] == "forget" and c["status"] == "pending"]
    return change in waiting and len(waiting) > 1


def change_line(change: Json) -> str:
    """What happened to one memory, in words."""
    content = short(change["content"])
    match change["action"], change["status"]:
        case _, "undone":
            return f"↩ Undone: {content}"
        case _, "discarded":
            return f"✖ Discarded: {content}"
        case "forget", "pending":
            return f"🧠 Forget “{content}”? It waits for your tap"
        case "forget", _:
            return f"🧠 Forgot: {content}"
        case "refresh", _ if change["before"] and change["before"] != change["content"]:
            return f"🧠 Updated: {content} (was: {short(change['before'], 60)})"
        case "refresh", _:
            return f"🧠 Knew already: {content}"
        case _, "pending":
            return f"🧠 To remember: {content}. It waits for your tap"
    return f"{'◆ Kept' if change['kind'] == 'learning' else '🧠 Learned'}: {content}"


def failure_line(failure: Json) -> str:
    """Why memory did not do what it was asked."""
    verbs = {"learn": "Not learned", "forget": "Not forgotten", "remember": "Not kept"}
    return f"{verbs.get(str(failure['tag']).lower(), 'Not done')} ({failure['failed']}): {short(failure['text'], 60)}"


def changes_keyboard(changes: Sequence[Json], turn_id: int, opened: bool) -> list[list[Json]]:
    """The buttons under an answer: closed, one button; opened, what can be decided about each change."""
    if not opened:
        return answer_buttons(Answer(text="", changes=list(changes)), turn_id)
    rows: list[list[Json]] = []
    for change in changes:
        content = short(change["content"], BUTTON)
        if change["status"] == "pending":
            verb = "🗑 Forget" if change["action"] == "forget" else "✅ Keep"
            rows.append(
                [button(f"{verb}: {content}", f"d:{change['id']}:k"), button("✖ Discard", f"d:{change['id']}:x")]
            )
        elif change["status"] == "applied":
            rows.append([button(f"↩ Undo: {content}", f"d:{change['id']}:u")])
            if change["action"] != "forget":
                rows[-1].append(button("✎ Edit", f"e:{change['memory_id']}"))
        else:
            rows.append([button(change_line(change)[:60], "n")])
    rows.append([button("‹ Close", f"c:{turn_id}")])
    return rows
