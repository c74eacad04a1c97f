"""The served methods by their lower-case names. ``getUpdates`` is in the server, since it waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.standins.telegram import about, editing, sending
from tests.standins.telegram.sending import Files
from tests.standins.telegram.values import Json
from tests.standins.telegram.world import World

Method = Callable[[World, Json, Files], Any]

_METHODS: dict[str, Method] = {
    "getMe": about.get_me,
    "logOut": about.accept,
    "close": about.accept,
    "setWebhook": about.set_webhook,
    "deleteWebhook": about.delete_webhook,
    "getWebhookInfo": about.get_webhook_info,
    "setMyCommands": about.set_my_commands,
    "deleteMyCommands": about.delete_my_commands,
    "getMyCommands": about.get_my_commands,
    "setMyName": about.accept,
    "setMyDescription": about.accept,
    "setMyShortDescription": about.accept,
    "setChatMenuButton": about.set_chat_menu_button,
    "getChatMenuButton": about.get_chat_menu_button,
    "getChat": about.get_chat,
    "getChatMember": about.get_chat_member,
    "getChatMemberCount": about.get_chat_member_count,
    "getChatAdministrators": about.get_chat_administrators,
    "leaveChat": about.leave_chat,
    "createForumTopic": about.create_forum_topic,
    "editForumTopic": about.edit_forum_topic,
    "sendMessage": sending.send_message,
    "sendMessageDraft": sending.send_message_draft,
    "sendVoice": sending.send_voice,
    "sendDocument": sending.send_document,
    "sendPhoto": sending.send_photo,
    "sendAudio": sending.send_audio,
    "sendVideo": sending.send_video,
    "forwardMessage": sending.forward_message,
    "copyMessage": sending.copy_message,
    "sendChatAction": sending.send_chat_action,
    "getFile": sending.get_file,
    "editMessageText": editing.edit_message_text,
    "editMessageCaption": editing.edit_message_caption,
    "editMessageReplyMarkup": editing.edit_message_reply_markup,
    "deleteMessage": editing.delete_message,
    "deleteMessages": editing.delete_messages,
    "setMessageReaction": editing.set_message_reaction,
    "pinChatMessage": editing.pin_chat_message,
    "unpinChatMessage": editing.unpin_chat_message,
    "answerCallbackQuery": editing.answer_callback_query,
}

METHODS: dict[str, tuple[str, Method]] = {name.lower(): (name, method) for name, method in _METHODS.items()}
