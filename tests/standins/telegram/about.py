"""Methods about the bot itself, its commands, its chats and their members."""

from __future__ import annotations

import json
import re

from tests.standins.telegram.checks import check_web_app, find_chat, find_topic, writable_chat
from tests.standins.telegram.sending import Files
from tests.standins.telegram.updates import SET_MEANWHILE
from tests.standins.telegram.values import ApiError, Chat, Json, bad_request
from tests.standins.telegram.world import World, present


def get_me(world: World, params: Json, files: Files) -> Json:
    """getMe"""
    return {
        **world.bot.json(),
        "can_join_groups": True,
        "can_read_all_group_messages": world.can_read_all_group_messages,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": world.has_topics_enabled,
        "allows_users_to_create_topics": world.allows_users_to_create_topics,
    }


def accept(world: World, params: Json, files: Files) -> bool:
    """Accept a method whose effect no test checks."""
    return True


def _scope(world: World, params: Json) -> tuple[str, str]:
    scope = params.get("scope") or {"type": "default"}
    if str(scope.get("type")).startswith("chat"):
        find_chat(world, scope.get("chat_id"))
    return json.dumps(scope, sort_keys=True), params.get("language_code") or ""


def set_my_commands(world: World, params: Json, files: Files) -> bool:
    """setMyCommands"""
    commands = params.get("commands") or []
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not re.fullmatch(r"/?[a-z0-9_]{1,32}", str(command.get("command"))):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description") or "")) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    world.commands[_scope(world, params)] = commands
    return True


def delete_my_commands(world: World, params: Json, files: Files) -> bool:
    """deleteMyCommands"""
    world.commands.pop(_scope(world, params), None)
    return True


def get_my_commands(world: World, params: Json, files: Files) -> list[Json]:
    """getMyCommands"""
    return world.commands.get(_scope(world, params), [])


def set_chat_menu_button(world: World, params: Json, files: Files) -> bool:
    """setChatMenuButton: for a private chat, or the default for all."""
    chat_id, button = _menu_chat(world, params), params.get("menu_button") or {"type": "default"}
    kind = button.get("type")
    if kind not in ("commands", "web_app", "default"):
        raise bad_request("can't parse menu button: MenuButton has unsupported type")
    if kind == "web_app":
        if not button.get("text"):
            raise bad_request('can\'t parse menu button: Field "text" must be of type String')
        check_web_app(button, "menu button")
    world.menu_buttons[chat_id] = button
    if kind == "default":
        del world.menu_buttons[chat_id]
    world.changed()
    return True


def get_chat_menu_button(world: World, params: Json, files: Files) -> Json:
    """getChatMenuButton"""
    return world.menu_buttons.get(_menu_chat(world, params), {"type": "default"})


def _menu_chat(world: World, params: Json) -> int:
    if params.get("chat_id") is None:
        return 0
    chat = find_chat(world, params["chat_id"])
    if not chat.private:
        raise bad_request("chat not found")
    return chat.id


def get_chat(world: World, params: Json, files: Files) -> Json:
    """getChat"""
    chat = find_chat(world, params.get("chat_id"))
    result = {
        **chat.json(),
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(
            ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
        ),
    }
    if not chat.private:
        result["permissions"] = {"can_send_messages": not chat.muted}
    if chat.linked_chat_id:
        result["linked_chat_id"] = chat.linked_chat_id
    if chat.community:
        result["community"] = chat.community
    if chat.description:
        result["description"] = chat.description
    if chat.pinned:
        result["pinned_message"] = chat.messages[chat.pinned[-1]].raw
    return result


def get_chat_member(world: World, params: Json, files: Files) -> Json:
    """getChatMember"""
    chat = find_chat(world, params.get("chat_id"))
    user_id = params.get("user_id")
    if user_id not in world.users:
        raise bad_request("PARTICIPANT_ID_INVALID" if chat.type == "supergroup" else "user not found")
    if chat.private:
        return {"status": "member", "user": world.users[user_id].json()}
    return world.membership(chat, user_id)


def get_chat_member_count(world: World, params: Json, files: Files) -> int:
    """getChatMemberCount"""
    chat = writable_chat(world, params)
    return 2 if chat.private else len(list(present(chat)))


def get_chat_administrators(world: World, params: Json, files: Files) -> list[Json]:
    """getChatAdministrators: without other bots, as in the real API."""
    chat = writable_chat(world, params)
    if chat.private:
        raise bad_request("there are no administrators in the private chat")
    found = [user_id for user_id, status in chat.members.items() if status in ("creator", "administrator")]
    return [
        world.membership(chat, user_id)
        for user_id in found
        if user_id == world.bot.id or not world.users[user_id].is_bot
    ]


def leave_chat(world: World, params: Json, files: Files) -> bool:
    """leaveChat"""
    chat = writable_chat(world, params)
    if chat.private:
        raise bad_request("chat is not a group, supergroup or channel chat")
    old = world.membership(chat, world.bot.id)
    chat.members[world.bot.id] = "left"
    new = world.membership(chat, world.bot.id)
    change = {"chat": chat.json(), "from": world.bot.json(), "date": 0, "old_chat_member": old, "new_chat_member": new}
    world.queue.add("my_chat_member", change)
    return True


def _with_topics(world: World, params: Json) -> Chat:
    chat = writable_chat(world, params)
    if not (world.has_topics_enabled if chat.private else chat.forum):
        raise bad_request("the chat is not a forum")
    if not chat.private and chat.members.get(world.bot.id) != "administrator":
        raise bad_request("not enough rights to manage topics")
    return chat


def create_forum_topic(world: World, params: Json, files: Files) -> Json:
    """createForumTopic"""
    chat = _with_topics(world, params)
    name = str(params.get("name") or "").strip()
    if not 1 <= len(name) <= 128:
        raise bad_request("TOPIC_TITLE_EMPTY" if not name else "topic name is too long")
    color = params.get("icon_color") or 7322096
    message = world.open_topic(chat, world.bot, name, color)
    return {"message_thread_id": message.message_id, "name": name, "icon_color": color}


def edit_forum_topic(world: World, params: Json, files: Files) -> bool:
    """editForumTopic"""
    chat = _with_topics(world, params)
    topic_id = find_topic(chat, params.get("message_thread_id"))
    if topic_id is None:
        raise bad_request("message thread not found")
    name = str(params.get("name") or "").strip()
    if len(name) > 128:
        raise bad_request("topic name is too long")
    if name == chat.topics[topic_id].name and not params.get("icon_custom_emoji_id"):
        raise bad_request("TOPIC_NOT_MODIFIED")
    if name:
        chat.topics[topic_id].name = name
        world.store(chat, world.bot, {"forum_topic_edited": {"name": name}}, topic_id=topic_id)
    return True


def set_webhook(world: World, params: Json, files: Files) -> bool:
    """setWebhook: https, or plain http to this machine."""
    url = str(params.get("url") or "")
    if url and not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    secret = str(params.get("secret_token") or "")
    if secret and not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret):
        raise bad_request("secret token contains unallowed characters")
    connections = int(params.get("max_connections") or 40)
    if not 1 <= connections <= 100:
        raise bad_request("max_connections must be between 1 and 100")
    if params.get("drop_pending_updates"):
        world.queue.drop_pending()
    world.queue.set_allowed(params.get("allowed_updates"))
    world.queue.webhook = {"url": url, "secret": secret, "max_connections": connections} if url else {}
    if url:
        world.queue.interrupt(ApiError(409, SET_MEANWHILE))
    world.queue.arrived.set()
    world.changed()
    return True


def delete_webhook(world: World, params: Json, files: Files) -> bool:
    """deleteWebhook"""
    if params.get("drop_pending_updates"):
        world.queue.drop_pending()
    world.queue.webhook = {}
    return True


def get_webhook_info(world: World, params: Json, files: Files) -> Json:
    """getWebhookInfo"""
    webhook = world.queue.webhook
    result = {
        "url": webhook.get("url", ""),
        "has_custom_certificate": False,
        "pending_update_count": len(world.queue.pending),
    }
    for name in ("max_connections", "last_error_date", "last_error_message"):
        if name in webhook:
            result[name] = webhook[name]
    if world.queue.allowed is not None:
        result["allowed_updates"] = sorted(world.queue.allowed)
    return result
