"""Files and voice notes in a reply: their stored requests, and what is sent. Pure."""

import base64
import re

from relay.clients.speech.language import language_of
from relay.core.models import Export, File, Sound
from relay.media.spoken import to_speech
from relay.memory.rows.delivery import Request
from relay.surfaces.telegram.parsing.place import Place

LARGEST = 10_000_000
"""The most bytes of a file: Telegram's limit for pictures."""
FIELDS = {"sendPhoto": "photo", "sendDocument": "document"}
UNSAFE = re.compile(r"[^\w.+()-]+", re.ASCII)
"""Characters to replace in a file's name, so that Telegram does not change it."""


def too_big(file: File | Export) -> str:
    """Says why a file cannot be sent; empty if it can."""
    if isinstance(file, Export) or not isinstance(file.content, bytes):
        return ""
    if not file.content:
        return f"⚠️ {file.name} is empty, so there's nothing to send."
    if len(file.content) <= LARGEST:
        return ""
    megabytes = f"{len(file.content) / 1e6:.1f}"
    return f"⚠️ {file.name} is {megabytes} MB, but I can send at most {LARGEST // 1_000_000} MB."


def file_request(file: File | Export, place: Place) -> Request:
    """Returns the stored request of a file; `choose_method` makes the real one. An export stores its parameters."""
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
    """Returns the stored request of a voice note: its text, not its sound, which is made just before it is sent. None
    if nothing in it can be spoken."""
    text = to_speech(markdown)
    if not text:
        return None
    say = {"text": text, "language": language_of(text)}
    return {**place.address(), "method": "sendVoice", "say": say, "disable_notification": True}


def choose_method(request: Request, made: Sound | File | None = None) -> tuple[str, Request]:
    """Returns the method and parameters that send a stored request. `made`: the sound of a voice note, or an export."""
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
    """Whether a message in the chat is a sent part. `text`: its text, or its file's name. The topic must match, because
    another one may get the same message at the same time."""
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
