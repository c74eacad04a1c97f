"""Checks that several methods share: the chat, the topic, the message replied to, the keyboard."""

from __future__ import annotations

from typing import Any

from tests.standins.telegram.values import ApiError, Chat, Json, StoredMessage, bad_request
from tests.standins.telegram.world import MEMBER_STATUSES, World


def find_chat(world: World, chat_id: Any) -> Chat:
    """The chat with this id or @username."""
    if chat_id in (None, ""):
        raise bad_request("chat_id is empty")
    if isinstance(chat_id, str) and chat_id.startswith("@"):
        found = next((chat for chat in world.chats.values() if chat.username == chat_id[1:]), None)
    else:
        found = world.chats.get(chat_id)
    if found is None:
        raise bad_request("chat not found")
    return found


def writable_chat(world: World, params: Json) -> Chat:
    """The chat of the request, if the bot may write there."""
    chat_id = params.get("chat_id")
    if chat_id in world.users and chat_id not in world.chats:
        raise ApiError(403, "Forbidden: bot can't initiate conversation with a user")
    chat = find_chat(world, chat_id)
    if chat.migrated_to is not None:
        raise ApiError(
            400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
        )
    if chat.user is not None:
        if chat.user.blocked_bot:
            raise ApiError(403, "Forbidden: bot was blocked by the user")
        return chat
    status = chat.members.get(world.bot.id, "left")
    if status == "kicked":
        raise ApiError(403, f"Forbidden: bot was kicked from the {chat.type} chat")
    if status not in MEMBER_STATUSES:
        raise ApiError(403, f"Forbidden: bot is not a member of the {chat.type} chat")
    if status == "restricted" or (chat.muted and status == "member"):
        raise bad_request("not enough rights to send text messages to the chat")
    return chat


def find_topic(chat: Chat, topic_id: int | None) -> int | None:
    """The topic to write in. As in the real API, General (1) is addressed by omitting the id."""
    if not topic_id:
        return None
    topic = chat.topics.get(topic_id)
    if topic is None or topic.deleted:
        raise bad_request("message thread not found")
    if topic.closed:
        raise bad_request("TOPIC_CLOSED")
    return topic_id


def find_message(chat: Chat, message_id: Any, absent: str) -> StoredMessage:
    """A message that still exists. Otherwise refuses with ``absent``."""
    message = chat.messages.get(message_id)
    if message is None or message.deleted:
        raise bad_request(absent)
    return message


def find_reply(world: World, chat: Chat, params: Json) -> tuple[StoredMessage | None, Json]:
    """The message replied to, and the ``quote`` field of the reply."""
    asked: Json = params.get("reply_parameters") or {}
    message_id = asked.get("message_id", params.get("reply_to_message_id"))
    if not message_id:
        return None, {}
    source = find_chat(world, asked["chat_id"]) if asked.get("chat_id") else chat
    target = source.messages.get(message_id)
    if target is None or target.deleted:
        if asked.get("allow_sending_without_reply", params.get("allow_sending_without_reply")):
            return None, {}
        raise bad_request("message to be replied not found")
    if quote := asked.get("quote"):
        if quote not in target.text:
            raise bad_request("QUOTE_TEXT_INVALID")
        return target, {"quote": {"text": quote, "position": asked.get("quote_position", 0), "is_manual": True}}
    return target, {}


def check_web_app(button: Json, where: str) -> None:
    """Check that a page that opens inside Telegram has an https address."""
    app = button.get("web_app")
    url = app.get("url") if isinstance(app, dict) else None
    if not isinstance(url, str) or not url:
        raise bad_request(f'can\'t parse {where}: Field "url" must be of type String')
    if not url.startswith("https://"):
        raise bad_request(f"{where} Web App URL '{url}' is invalid: Only HTTPS links are allowed")


def inline_keyboard(params: Json, chat: Chat) -> Json | None:
    """The checked inline keyboard of the request. Other keyboards aren't part of a message."""
    markup = params.get("reply_markup")
    if not markup:
        return None
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    if "inline_keyboard" not in markup:
        return None
    rows = [row for row in markup["inline_keyboard"] if row]
    for button in (button for row in rows for button in row):
        if not button.get("text"):
            raise bad_request('can\'t parse inline keyboard button: Field "text" must be of type String')
        if len(button) < 2:
            raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= 64:
            raise bad_request("BUTTON_DATA_INVALID")
        if "web_app" in button:
            check_web_app(button, "inline keyboard button")
            if not chat.private:
                raise bad_request("BUTTON_TYPE_INVALID")
    return {"inline_keyboard": rows} if rows else None
