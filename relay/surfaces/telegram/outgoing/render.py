"""Renders an answer as Telegram messages: its text, the line about memory, and its buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from relay.core.models import Button, Export, File, Rows
from relay.core.text import escape_sentence, utf16_offsets
from relay.memory.rows.delivery import Part
from relay.memory.rows.turns.answer import Answer
from relay.surfaces.chat.changes import first_rows, memory_line
from relay.surfaces.chat.contexts.markers.weights import kept_line, undo_typed
from relay.surfaces.chat.history.why import describe_tools
from relay.surfaces.chat.preferences.choice import choice_row, compare_row, reason_row
from relay.surfaces.chat.preferences.pages import describe_acting, drop_label, press_drop
from relay.surfaces.chat.preferences.tags import tags_button
from relay.surfaces.chat.reminders.dated import offer_rows
from relay.surfaces.chat.reminders.made import made_line, made_row
from relay.surfaces.chat.reply import button
from relay.surfaces.chat.turn_buttons import AnswerTwice, AnswerWithWeb, BringBack, RetryAnswer
from relay.surfaces.telegram.formatting.attachments import extract_long_code
from relay.surfaces.telegram.formatting.format import FOOTER_LIMIT, format_reply, shorten
from relay.surfaces.telegram.outgoing.files import file_request, too_big, voice_request
from relay.surfaces.telegram.outgoing.requests import inline_keyboard, text_request
from relay.surfaces.telegram.parsing.place import Place

SIGNS = {
    "private": "🕶 Off the record",
    "rests": "💤 I'm not using memory right now (/memory on)",
    "woke": "🧠 Memory is on again",
    "unlearned off": "Not learned: memory is off",
    "unlearned paused": "Not learned: memory is paused",
    "unlearned here": "Not learned: learning is off in this chat (/memory here)",
}
"""Notes in the line under an answer."""

WHICH = "⚖ Which was better?"
ASKS_FIRST = "📎 A file or someone else's words are in this conversation, so I ask first"
_LEAST_NOTE = 200  # UTF-16 code units of the note to show in any case


def answer_parts(answer: Answer, place: Place, turn_id: int) -> list[Part]:
    """Returns the parts of a reply to store and send. The first one may make a sound, the last has the buttons."""
    footer, choices = footer_of(answer), answer.choices
    tools = describe_tools(answer.tools) if choices.tools else ""
    text, files = extract_long_code(answer.text or ("" if footer else "👌"))
    tools = "\n".join(line for line in (f"🔎 {tools}" if tools else "", answer.diagnostic) if line)
    if answer.other:
        return two_parts(answer, place, turn_id, footer, tools)
    parts = message_parts(text, place, answer_buttons(answer, turn_id), footer, tools, silent=not choices.sound)
    if choices.previews:
        for part in parts:
            part.request["link_preview_options"] = {"is_disabled": False}
    parts = with_files(parts, files, place)
    return with_voice(parts, answer.text, place) if answer.aloud else parts


def two_parts(answer: Answer, place: Place, turn_id: int, footer: str, tools: str) -> list[Part]:
    """Returns the parts of two answers in separate messages, with the choice under the second."""
    one, other = (answer.text, answer.other) if answer.order == "ab" else (answer.other, answer.text)
    first = message_parts(f"**A**\n\n{one}", place, silent=not answer.choices.sound)
    rows, below = [choice_row(turn_id)], place if place.comment else replace(place, reply_to=None)
    second = message_parts(f"**B**\n\n{other}", below, rows, footer, tools, silent=True)
    first = [replace(part, second=answer.order != "ab") for part in first]
    return [*first, *(replace(part, seq=len(first) + part.seq, second=answer.order == "ab") for part in second)]


def footer_of(answer: Answer) -> str:
    """Returns the line under an answer: how it ended, who wrote it, and what memory did. A long note is shortened to
    leave room for the rest."""
    by = f"Written by {answer.model}" if answer.model else ""
    memory = memory_line([*answer.withdrawn, *answer.changes], answer.failed)
    explained = any(sign == "private" or sign.startswith("unlearned") for sign in answer.signs)
    off = "🧠 Learning is off (/settings)" if answer.unlearned and not explained else ""
    signs = [SIGNS[sign] for sign in answer.signs if sign in SIGNS]
    reminders = [made_line(one, datetime.now(UTC)) for one in answer.reminders]
    which = WHICH if asks_which_is_better(answer) else ""
    learned = (memory, kept_line(answer.kept), *reminders, describe_acting(answer.preferences))
    parts = (by, *learned, explain_tap(answer), off, *signs, answer.warning, which)
    rest = " · ".join(part for part in parts if part)
    room = max(_LEAST_NOTE, FOOTER_LIMIT - utf16_offsets(f" · {rest}")[-1])
    return " · ".join(part for part in (shorten(answer.note, room), rest) if part)


def explain_tap(answer: Answer) -> str:
    """Says why something waits for a tap if a file or a forwarded message is the cause; empty otherwise. It stays true
    after the tap."""
    waits = any(one.status == "pending" for one in answer.changes) or any(
        one.status == "proposed" for one in answer.reminders
    )
    cause = {"message", "recent"} & {*answer.tainted_by} and "people" not in answer.tainted_by
    return ASKS_FIRST if waits and cause else ""


def asks_which_is_better(answer: Answer) -> bool:
    """Whether to ask which is better, an answer or the one before it."""
    asks = answer.choices.compare and answer.before and answer.text and not answer.other
    return bool(asks) and "private" not in answer.signs


def message_parts(
    markdown: str,
    place: Place,
    buttons: Rows = (),
    footer: str = "",
    tools: str = "",
    silent: bool = False,
    file: File | Export | None = None,
) -> list[Part]:
    """Renders a text as parts of a delivery. `silent`: no part makes a sound. `file`: sent last."""
    if file and (refusal := too_big(file)):
        markdown, file = f"{markdown}\n\n{escape_sentence(refusal)}", None
    formatted = format_reply(markdown, footer=footer, tools=tools)
    parts: list[Part] = []
    for seq, message in enumerate(formatted, 1):
        request = text_request(place, message)
        if silent or seq > 1:
            request["disable_notification"] = True
        request |= place.reply(seq)
        if buttons and seq == len(formatted):
            request["reply_markup"] = inline_keyboard(buttons)
        parts.append(Part(seq, place.chat_id, request))
    if file:
        parts = with_files(parts, [file], place)
        if not formatted and buttons:
            parts[0].request["reply_markup"] = inline_keyboard(buttons)
    return parts


def with_files(parts: list[Part], files: Sequence[File | Export], place: Place) -> list[Part]:
    """Appends files, each as a separate part."""
    return parts + [
        Part(seq, place.chat_id, file_request(file, place) | place.reply(seq))
        for seq, file in enumerate(files, len(parts) + 1)
    ]


def with_voice(parts: list[Part], markdown: str, place: Place) -> list[Part]:
    """Appends a text as a voice note, if anything in it can be spoken."""
    request = voice_request(markdown, place)
    if request is None:
        return parts
    seq = len(parts) + 1
    return [*parts, Part(seq, place.chat_id, request | place.reply(seq))]


def answer_buttons(answer: Answer, turn_id: int) -> list[list[Button]]:
    """Returns the buttons under an answer: to undo changes of memory, save the answer, or retry."""
    keeps = bool(answer.text) and answer.choices.keep and not answer.resting and "private" not in answer.signs
    rows = first_rows(answer.changes, turn_id, keeps)
    if answer.kept:
        rows.append([undo_typed(turn_id)])
    if answer.retry:
        rows.append([button("↻ Retry", RetryAnswer(turn_id))])
    if answer.web:
        rows.append([button("🌐 Answer with the web", AnswerWithWeb(turn_id))])
    if asks_which_is_better(answer):
        rows += [compare_row(turn_id, answer.before or 0), [button("⚖ Two to choose from", AnswerTwice(turn_id))]]
    elif answer.replaced and answer.text:
        rows.append([button("↩ First answer", BringBack(turn_id))])
    if answer.reasons:
        rows.append(reason_row(turn_id))
    if answer.choices.tags and answer.text and "private" not in answer.signs:
        rows.append([tags_button(turn_id)])
    rows += [made_row(one) for one in answer.reminders] or offer_rows(answer.changes)
    rows += [[button(drop_label(row), press_drop(row.id))] for row in answer.preferences]
    return rows
