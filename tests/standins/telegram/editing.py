"""Methods that change existing messages: edits, deletions, reactions, pins, answers to buttons."""

from __future__ import annotations

from tests.standins.telegram.checks import find_message, inline_keyboard, writable_chat
from tests.standins.telegram.sending import Files
from tests.standins.telegram.text import MAX_CAPTION, MAX_TEXT, formatted
from tests.standins.telegram.values import Chat, Json, StoredMessage, bad_request
from tests.standins.telegram.world import World

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same"
    " as a current content and reply markup of the message"
)
_EMOJI = (
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴"
    " 😍 🐳 ❤️‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭"
    " 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂️ 🤷 🤷‍♀️ 😡"
)
REACTIONS = frozenset(_EMOJI.split())


def _own(world: World, params: Json) -> tuple[Chat, StoredMessage]:
    """The bot's own message that the request wants to edit."""
    chat = writable_chat(world, params)
    message = find_message(chat, params.get("message_id"), "message to edit not found")
    if not message.from_bot:
        raise bad_request("message can't be edited")
    return chat, message


def _apply(world: World, message: StoredMessage, fields: Json) -> Json:
    if all(message.raw.get(key) == value for key, value in fields.items()):
        raise bad_request(NOT_MODIFIED)
    world.change(message, fields)
    return message.raw


def edit_message_text(world: World, params: Json, files: Files) -> Json:
    """editMessageText"""
    chat, message = _own(world, params)
    text, entities = formatted(params, "text", "entities", MAX_TEXT)
    if not text:
        raise bad_request("message text is empty")
    if "text" not in message.raw:
        raise bad_request("there is no text in the message to edit")
    fields: Json = {"text": text, "entities": entities or None, "reply_markup": inline_keyboard(params, chat)}
    if params.get("link_preview_options"):
        fields["link_preview_options"] = params["link_preview_options"]
    return _apply(world, message, fields)


def edit_message_caption(world: World, params: Json, files: Files) -> Json:
    """editMessageCaption"""
    chat, message = _own(world, params)
    caption, entities = formatted(params, "caption", "caption_entities", MAX_CAPTION)
    if "text" in message.raw:
        raise bad_request("there is no caption in the message to edit")
    fields = {"caption": caption or None, "caption_entities": entities or None}
    return _apply(world, message, {**fields, "reply_markup": inline_keyboard(params, chat)})


def edit_message_reply_markup(world: World, params: Json, files: Files) -> Json:
    """editMessageReplyMarkup"""
    chat, message = _own(world, params)
    return _apply(world, message, {"reply_markup": inline_keyboard(params, chat)})


def _deletable(world: World, chat: Chat, message: StoredMessage) -> bool:
    return message.from_bot or chat.private or chat.members.get(world.bot.id) == "administrator"


def delete_message(world: World, params: Json, files: Files) -> bool:
    """deleteMessage"""
    chat = writable_chat(world, params)
    message = find_message(chat, params.get("message_id"), "message to delete not found")
    if not _deletable(world, chat, message):
        raise bad_request("message can't be deleted")
    message.deleted = True
    world.changed()
    return True


def delete_messages(world: World, params: Json, files: Files) -> bool:
    """deleteMessages: skips missing messages."""
    chat = writable_chat(world, params)
    message_ids = params.get("message_ids") or []
    if not 1 <= len(message_ids) <= 100:
        raise bad_request("message identifiers are not specified")
    for message_id in message_ids:
        message = chat.messages.get(message_id)
        if message is not None and _deletable(world, chat, message):
            message.deleted = True
    world.changed()
    return True


def set_message_reaction(world: World, params: Json, files: Files) -> bool:
    """setMessageReaction"""
    chat = writable_chat(world, params)
    message = find_message(chat, params.get("message_id"), "message to react not found")
    reaction = params.get("reaction") or []
    if len(reaction) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    if any(kind.get("type") != "emoji" or kind.get("emoji") not in REACTIONS for kind in reaction):
        raise bad_request("REACTION_INVALID")
    message.reactions[world.bot.id] = reaction
    world.changed()
    return True


def pin_chat_message(world: World, params: Json, files: Files) -> bool:
    """pinChatMessage"""
    chat = writable_chat(world, params)
    message = find_message(chat, params.get("message_id"), "message to pin not found")
    if not chat.private and chat.members.get(world.bot.id) != "administrator":
        raise bad_request("not enough rights to manage pinned messages in the chat")
    if message.message_id not in chat.pinned:
        chat.pinned.append(message.message_id)
    return True


def unpin_chat_message(world: World, params: Json, files: Files) -> bool:
    """unpinChatMessage: the given message, or the latest."""
    chat = writable_chat(world, params)
    message_id = params.get("message_id") or (chat.pinned[-1] if chat.pinned else 0)
    if message_id not in chat.pinned:
        raise bad_request("message to unpin not found")
    chat.pinned.remove(message_id)
    return True


def answer_callback_query(world: World, params: Json, files: Files) -> bool:
    """answerCallbackQuery: once per query."""
    query_id = str(params.get("callback_query_id"))
    if query_id not in world.queries or query_id in world.answers:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if len(str(params.get("text") or "")) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    world.answers[query_id] = params
    world.changed()
    return True
