"""Files and voice notes among the parts of a reply: as they are stored, and as they are sent. Pure."""

from __future__ import annotations

import base64
import re

from relay.clients.speech.language import language_of
from relay.core.models import Export, File, Sound
from relay.media.spoken import to_speech
from relay.memory.rows.delivery import Request
from relay.surfaces.telegram.parsing.place import Place

LARGEST = 10_000_000
"""Bytes of one file: what Telegram takes as a picture."""
FIELDS = {"sendPhoto": "photo", "sendDocument": "document"}
UNSAFE = re.compile(r"[^\w.+()-]+", re.ASCII)
"""What a file's name keeps out, so that Telegram shows it as it was given."""


def too_big(file: File | Export) -> str:
    """The line that says why a file cannot be sent; empty when it can be."""
    if isinstance(file, Export) or not isinstance(file.content, bytes):
        return ""
    if not file.content:
        return f"⚠️ {file.name} is empty, so there is nothing to send."
    if len(file.content) <= LARGEST:
        return ""
    megabytes = f"{len(file.content) / 1e6:.1f}"
    return f"⚠️ {file.name} has {megabytes} MB, and I can send at most {LARGEST // 1_000_000} MB."


def file_request(file: File | Export, place: Place) -> Request:
    """The request that a file is stored as: what Telegram gets is made of it by `sent_as`. Of an export just what it is
    to be is stored."""
    name = UNSAFE.sub("-", file.name)[-60:]
    if isinstance(file, Export):
        wanted = {"space": file.space.as_json(), "title": file.title, "zone": file.zone}
        request = {"method": "sendDocument", "file": {"name": name}, "export": wanted, "disable_notification": True}
        return {**place.address(), **request}
    assert isinstance(file.content, bytes)  # noqa: S101 — only an export is an open file, once it is packed
    return {
        **place.address(),
        "method": "sendPhoto" if file.picture else "sendDocument",
        "file": {"name": name, "content": base64.b64encode(file.content).decode()},
        "disable_notification": True,
    }


def voice_request(markdown: str, place: Place) -> Request | None:
    """The request that a voice note is stored as: what is to be said, not its sound, which is made when its turn comes.
    None when there is nothing that can be said."""
    text = to_speech(markdown)
    if not text:
        return None
    say = {"text": text, "language": language_of(text)}
    return {**place.address(), "method": "sendVoice", "say": say, "disable_notification": True}


def sent_as(request: Request, made: Sound | File | None = None) -> tuple[str, Request]:
    """The method and the parameters that send a stored request: a text, a file, or what was `made` for it now, the
    sound of a voice note or an export."""
    if isinstance(made, File):
        rest = {key: value for key, value in request.items() if key not in ("method", "file", "export")}
        return request["method"], {**rest, "document": made}
    if (sound := made) is not None:
        rest = {key: value for key, value in request.items() if key not in ("method", "say")}
        name = "answer.ogg" if sound.mime == "audio/ogg" else "answer.mp3"
        return request["method"], {**rest, "voice": File(name, sound.content), "duration": sound.seconds}
    if "text" in request:
        return "sendMessage", {key: value for key, value in request.items() if key != "say"}
    method, file = request["method"], request["file"]
    parameters = {key: value for key, value in request.items() if key not in ("method", "file")}
    content = File(file["name"], base64.b64decode(file["content"]), method == "sendPhoto")
    return method, {**parameters, FIELDS[method]: content}


def shows(message: Request, request: Request, text: str) -> bool:
    """Whether a message in the chat is what a part was sent as; `text`: its text, or its file's name. In another topic
    the same may be said at the same time."""
    topic_id = message.get("message_thread_id") if message.get("is_topic_message") else None
    if topic_id != request.get("message_thread_id"):
        return False
    if "text" in request:
        return str(message.get("text")).strip() == text.strip()
    if "say" in request:
        return "voice" in message  # nothing else tells one voice note from another
    if request["method"] == "sendPhoto":
        return "photo" in message
    return (message.get("document") or {}).get("file_name") == text
