"""Helpers for requests: addresses, texts, keyboards, and simpler forms of refused ones. Pure."""

from __future__ import annotations

from relay.core.models import Rows
from relay.memory.rows.delivery import Request
from relay.surfaces.telegram.formatting.format import Formatted
from relay.surfaces.telegram.parsing.place import Place

TOPIC_GONE = ("message thread not found", "topic_deleted", "topic_closed", "topic_id_invalid")


def address_of(request: Request, *more: str) -> Request:
    """Returns a request's address, with `more` of its parameters."""
    return {key: request[key] for key in ("chat_id", "message_thread_id", *more) if key in request}


def inline_keyboard(rows: Rows) -> Request:
    """Returns buttons as a request's `reply_markup`."""
    return {"inline_keyboard": [[one.as_json() for one in row] for row in rows]}


def text_request(place: Place, shown: Formatted) -> Request:
    """Returns a message with formatting, and without a link preview."""
    return {
        **place.address(),
        "text": shown.text,
        "entities": shown.entities,
        "link_preview_options": {"is_disabled": True},
    }


def silent_line(text: str) -> Request:
    """Returns a silent message without an address."""
    return {"text": text, "link_preview_options": {"is_disabled": True}, "disable_notification": True}


def is_topic_gone(reason: str) -> bool:
    """Tests whether Telegram refused a request because its topic is closed or deleted."""
    return any(words in reason.lower() for words in TOPIC_GONE)


def plainer(request: Request, reason: str) -> Request | None:
    """Returns a simpler form of a refused request; None if nothing more can be left out.

    A message for a topic never leaves it, except in a private chat, which nobody else can read.
    """
    if is_topic_gone(reason):
        if request["chat_id"] < 0 or "message_thread_id" not in request:
            return None
        return {key: value for key, value in request.items() if key != "message_thread_id"}
    if "say" in request and "text" not in request:
        return None
    if request.get("entities"):
        return {key: value for key, value in request.items() if key != "entities"}
    bare = address_of(request, "text", "method", "file", "export")
    return bare if bare != request else None
