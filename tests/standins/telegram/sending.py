"""Methods that send new messages to a chat."""

from __future__ import annotations

import time

from tests.standins.telegram.checks import (
    find_chat,
    find_message,
    find_reply,
    find_topic,
    inline_keyboard,
    writable_chat,
)
from tests.standins.telegram.media import media_object, sound_type
from tests.standins.telegram.text import MAX_CAPTION, MAX_TEXT, formatted
from tests.standins.telegram.values import Chat, Json, StoredFile, StoredMessage, Upload, bad_request
from tests.standins.telegram.world import World

Files = dict[str, Upload]

_KEPT = ("text", "entities", "caption", "caption_entities", "voice", "photo", "document", "audio", "video")
_ACTION_NAMES = (
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker"
    " find_location record_video_note upload_video_note"
)
_ACTIONS = frozenset(_ACTION_NAMES.split())


def _put(world: World, params: Json, chat: Chat, content: Json) -> StoredMessage:
    """Store what the bot sends, with its topic, reply and keyboard. The drafts of that topic vanish."""
    topic_id = find_topic(chat, params.get("message_thread_id"))
    target, quote = find_reply(world, chat, params)
    if topic_id is None and target is not None and target.chat_id == chat.id:
        topic_id = target.topic_id
    content = {**content, **quote}
    if params.get("link_preview_options"):
        content["link_preview_options"] = params["link_preview_options"]
    if params.get("protect_content"):
        content["has_protected_content"] = True
    if markup := inline_keyboard(params, chat):
        content["reply_markup"] = markup
    for key in [key for key in chat.drafts if key[0] == topic_id]:
        del chat.drafts[key]
    silent = bool(params.get("disable_notification"))
    return world.store(chat, world.bot, content, topic_id=topic_id, reply_to=target, silent=silent)


def send_message(world: World, params: Json, files: Files) -> Json:
    """sendMessage"""
    chat = writable_chat(world, params)
    text, entities = formatted(params, "text", "entities", MAX_TEXT)
    if not text:
        raise bad_request("message text is empty")
    content: Json = {"text": text}
    if entities:
        content["entities"] = entities
    return _put(world, params, chat, content).raw


def send_message_draft(world: World, params: Json, files: Files) -> bool:
    """sendMessageDraft"""
    chat = writable_chat(world, params)
    if not chat.private:
        raise bad_request("message drafts can be sent only to private chats")
    if not params.get("draft_id"):
        raise bad_request("draft identifier must be non-zero")
    topic_id = find_topic(chat, params.get("message_thread_id"))
    text, entities = formatted(params, "text", "entities", MAX_TEXT)
    chat.drafts[topic_id, params["draft_id"]] = {
        "draft_id": params["draft_id"],
        "topic_id": topic_id,
        "text": text,
        "entities": entities,
        "can_stop": bool(params.get("can_stop")),
        "at": time.monotonic(),
    }
    world.changed()
    return True


def _send_media(kind: str, world: World, params: Json, files: Files) -> Json:
    """sendVoice, sendDocument, sendPhoto, sendAudio, sendVideo: a new file, or one that the server knows."""
    chat = writable_chat(world, params)
    caption, entities = formatted(params, "caption", "caption_entities", MAX_CAPTION)
    given = params.get(kind)
    upload = files.get(str(given).removeprefix("attach://")) if given else files.get(kind)
    if upload is None and given in world.files:
        upload = world.files[str(given)].upload
    if upload is None and str(given).startswith(("http://", "https://")):
        upload = Upload(name=str(given).rsplit("/", 1)[-1])
    if upload is None:
        reason = "wrong file identifier/HTTP URL specified" if given else f"there is no {kind} in the request"
        raise bad_request(reason)
    if not upload.data:
        raise bad_request("file must be non-empty")
    upload.duration = int(params.get("duration") or upload.duration)
    if kind == "voice":
        if chat.user is not None and chat.user.refuses_voice:
            raise bad_request("VOICE_MESSAGES_FORBIDDEN")
        # A file other than OGG, MP3 or M4A arrives as a document.
        upload.mime_type = sound_type(upload.data)
        kind = kind if upload.mime_type else "document"
    content: Json = {kind: media_object(world, kind, upload)}
    if caption:
        content["caption"] = caption
    if entities:
        content["caption_entities"] = entities
    return _put(world, params, chat, content).raw


def send_voice(world: World, params: Json, files: Files) -> Json:
    """sendVoice"""
    return _send_media("voice", world, params, files)


def send_document(world: World, params: Json, files: Files) -> Json:
    """sendDocument"""
    return _send_media("document", world, params, files)


def send_photo(world: World, params: Json, files: Files) -> Json:
    """sendPhoto"""
    return _send_media("photo", world, params, files)


def send_audio(world: World, params: Json, files: Files) -> Json:
    """sendAudio"""
    return _send_media("audio", world, params, files)


def send_video(world: World, params: Json, files: Files) -> Json:
    """sendVideo"""
    return _send_media("video", world, params, files)


def _source(world: World, params: Json, what: str) -> StoredMessage:
    source = find_chat(world, params.get("from_chat_id"))
    return find_message(source, params.get("message_id"), f"message to {what} not found")


def forward_message(world: World, params: Json, files: Files) -> Json:
    """forwardMessage"""
    chat = writable_chat(world, params)
    source = _source(world, params, "forward")
    content = {key: source.raw[key] for key in _KEPT if key in source.raw}
    content["forward_origin"] = source.raw.get("forward_origin") or {
        "type": "user",
        "sender_user": source.raw["from"],
        "date": source.raw["date"],
    }
    return _put(world, params, chat, content).raw


def copy_message(world: World, params: Json, files: Files) -> Json:
    """copyMessage"""
    chat = writable_chat(world, params)
    source = _source(world, params, "copy")
    content = {key: source.raw[key] for key in _KEPT if key in source.raw}
    return {"message_id": _put(world, params, chat, content).message_id}


def send_chat_action(world: World, params: Json, files: Files) -> bool:
    """sendChatAction"""
    chat = writable_chat(world, params)
    find_topic(chat, params.get("message_thread_id"))
    if params.get("action") not in _ACTIONS:
        raise bad_request("wrong parameter action in request")
    return True


def get_file(world: World, params: Json, files: Files) -> Json:
    """getFile"""
    file: StoredFile | None = world.files.get(str(params.get("file_id")))
    if file is None:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    result = file.json()
    if result["file_size"] > 20 * 1024 * 1024:
        raise bad_request("file is too big")
    return {**result, "file_path": file.path}
