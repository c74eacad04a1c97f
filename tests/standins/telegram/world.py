"""The state of the server: users, chats, messages and their ids, files, the queue of updates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from tests.standins.telegram.updates import UpdateQueue
from tests.standins.telegram.values import (
    TEST_TOKEN,
    Chat,
    Json,
    Record,
    StoredFile,
    StoredMessage,
    Topic,
    Upload,
    User,
)

T = TypeVar("T")

MEMBER_STATUSES = frozenset({"creator", "administrator", "member", "restricted"})


class World:
    """The server's whole state, without HTTP."""

    def __init__(
        self,
        token: str = TEST_TOKEN,
        *,
        username: str = "relay_test_bot",
        first_name: str = "Relay",
        can_read_all_group_messages: bool = True,
        has_topics_enabled: bool = True,
        allows_users_to_create_topics: bool = True,
    ) -> None:
        self.token = token
        self.bot = User(int(token.split(":")[0]), first_name, username, is_bot=True, language_code=None)
        self.can_read_all_group_messages = can_read_all_group_messages
        self.has_topics_enabled = has_topics_enabled
        self.allows_users_to_create_topics = allows_users_to_create_topics
        self.users: dict[int, User] = {self.bot.id: self.bot}
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, StoredFile] = {}
        self.file_paths: dict[str, StoredFile] = {}
        self.commands: dict[tuple[str, str], list[Json]] = {}
        self.menu_buttons: dict[int, Json] = {}
        """By private chat. 0 is the bot's own default."""
        self.queries: dict[str, Json] = {}
        self.answers: dict[str, Json] = {}
        self.log: list[Record] = []
        self.queue = UpdateQueue(self.changed)
        self.clock_ahead = 0.0
        """Seconds that the server's clock is ahead of the real one. It dates messages and the Date header of each
        answer."""
        self._account_message_id = 0
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def now(self) -> int:
        """The time by the server's clock (Unix seconds)."""
        return int(time.time() + self.clock_ahead)

    # For tests to read

    @property
    def pending_updates(self) -> list[Json]:
        """Updates that aren't acknowledged yet."""
        return list(self.queue.pending.values())

    @property
    def acked(self) -> list[int]:
        """Ids of the acknowledged updates, in order."""
        return self.queue.acked

    def calls(self, method: str, chat_id: int | None = None) -> list[Record]:
        """The requests for a method, optionally for one chat only."""
        name = method.lower()
        return [
            record
            for record in self.log
            if record.method.lower() == name and (chat_id is None or record.params.get("chat_id") == chat_id)
        ]

    def messages(self, chat: Chat | int, topic: int | None = None, *, deleted: bool = False) -> list[StoredMessage]:
        """The transcript. ``topic`` 0 means outside all topics, ``None`` means everything."""
        return [
            message
            for message in self.chat(chat).messages.values()
            if (deleted or not message.deleted) and (topic is None or (message.topic_id or 0) == topic)
        ]

    def message(self, chat: Chat | int, message_id: int) -> StoredMessage:
        """One message, deleted or not."""
        return self.chat(chat).messages[message_id]

    def drafts(self, chat: Chat | int, topic: int | None = None) -> list[Json]:
        """The drafts that the chat shows now: ``draft_id``, ``text``, ``entities``, ``can_stop``, ``at``."""
        drafts = self.chat(chat).drafts.items()
        return [draft for (topic_id, _), draft in drafts if topic is None or (topic_id or 0) == topic]

    # Waiting

    def changed(self) -> None:
        """Wake all waiters, so that they check again."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 30) -> T:
        """The predicate's first true value. Raises ``TimeoutError`` after ``timeout`` seconds."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while not (value := predicate()):
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.add(waiter)
            try:
                await asyncio.wait({waiter}, timeout=min(max(deadline - loop.time(), 0), 0.5))
            finally:
                self._waiters.discard(waiter)
            if loop.time() >= deadline and not (value := predicate()):
                last = [f"{record.method}: {record.outcome}" for record in self.log[-8:]]
                raise TimeoutError(f"nothing came within {timeout} s; the last requests: {last}")
            if value:
                break
        return value

    async def wait_reply(
        self, chat: Chat | int, after: int | StoredMessage = 0, topic: int | None = None, timeout: float = 30
    ) -> StoredMessage:
        """The bot's first message in that chat (and topic) with an id above ``after``."""
        known = number(after)

        def reply() -> StoredMessage | None:
            found = None
            for message_id, message in reversed(self.chat(chat).messages.items()):
                if message_id <= known:
                    break
                here = topic is None or (message.topic_id or 0) == topic
                if message.from_bot and here and not message.deleted and "forum_topic_edited" not in message.raw:
                    found = message
            return found

        result = await self.wait_for(reply, timeout)
        assert result is not None
        return result

    async def wait_calls(self, method: str, count: int = 1, timeout: float = 30) -> list[Record]:
        """The executed requests for a method, once there are ``count`` of them."""

        def enough() -> list[Record] | None:
            carried_out = [record for record in self.calls(method) if record.ok]
            return carried_out if len(carried_out) >= count else None

        result = await self.wait_for(enough, timeout)
        assert result is not None
        return result

    async def wait_polling(self, timeout: float = 30) -> None:
        """Wait until the bot is waiting in getUpdates (or has set a webhook)."""
        await self.wait_for(lambda: self.queue.polling or bool(self.queue.webhook.get("url")), timeout)

    # State

    def chat(self, chat: Chat | int) -> Chat:
        """The chat, given it or its id. Raises ``KeyError`` if there is none."""
        return chat if isinstance(chat, Chat) else self.chats[chat]

    def person(self, user: User | int) -> User:
        """The user, given it or its id. Raises ``KeyError`` if there is none."""
        return user if isinstance(user, User) else self.users[user]

    def _next_message_id(self, chat: Chat) -> int:
        """Each supergroup has its own counter. All other chats share the account's."""
        if chat.type == "supergroup":
            chat.last_message_id += 1
            return chat.last_message_id
        self._account_message_id += 1
        return self._account_message_id

    def store(
        self,
        chat: Chat,
        sender: User,
        content: Json,
        *,
        topic_id: int | None = None,
        reply_to: StoredMessage | None = None,
        silent: bool = False,
        message_id: int | None = None,
    ) -> StoredMessage:
        """Add a message to a chat, with the thread fields that Telegram would give it."""
        message_id = message_id or self._next_message_id(chat)
        raw: Json = {"message_id": message_id, "from": sender.json(), "chat": chat.json(), "date": self.now}
        if topic_id:
            raw["message_thread_id"] = topic_id
            raw["is_topic_message"] = True
            if chat.forum and reply_to is None:
                reply_to = chat.messages.get(topic_id)
        elif chat.type == "supergroup" and reply_to is not None:
            # A chain of replies outside a topic has a thread id, too, without being a topic.
            raw["message_thread_id"] = reply_to.raw.get("message_thread_id", reply_to.message_id)
        if reply_to is not None:
            raw["reply_to_message"] = {key: value for key, value in reply_to.raw.items() if key != "reply_to_message"}
        raw.update(content)
        message = StoredMessage(raw, chat.id, topic_id, sender.id, sender is self.bot, silent)
        chat.messages[message_id] = message
        self.changed()
        return message

    def change(self, message: StoredMessage, fields: Json) -> None:
        """Edit a message. Fields that are ``None`` are removed. Queued or returned copies stay unchanged."""
        if message.text != fields.get("text", fields.get("caption", message.text)):
            message.history.append(message.text)
        merged = {**message.raw, **fields, "edit_date": self.now}
        message.raw = {key: value for key, value in merged.items() if value is not None}
        message.edited_at = time.monotonic()
        self.changed()

    def open_topic(
        self, chat: Chat, creator: User, name: str, icon_color: int = 7322096, *, implicit: bool = False
    ) -> StoredMessage:
        """Create a topic. Its id is that of the service message that announces it."""
        created: Json = {"name": name, "icon_color": icon_color}
        if implicit:
            created["is_name_implicit"] = True
        message = self.store(chat, creator, {"forum_topic_created": created})
        topic_id = message.message_id
        message.topic_id = topic_id
        message.raw = {**message.raw, "message_thread_id": topic_id, "is_topic_message": True}
        chat.topics[topic_id] = Topic(topic_id, name)
        return message

    def add_file(self, upload: Upload, folder: str = "documents") -> StoredFile:
        """Store a file. It can be found by its id and downloaded at its path."""
        index = len(self.files) + 1
        ending = upload.name.rpartition(".")[2]
        suffix = ending if "." in upload.name and ending.isalnum() and len(ending) < 9 else "bin"
        file = StoredFile(f"FILE-{index:06d}", f"UNIQUE-{index:06d}", f"{folder}/file_{index}.{suffix}", upload)
        self.files[file.id] = file
        self.file_paths[file.path] = file
        return file

    def membership(self, chat: Chat, user_id: int) -> Json:
        """The ChatMember object of a user in a chat."""
        status = chat.members.get(user_id, "left")
        user = self.users[user_id]
        result: Json = {"status": status, "user": user.json()}
        if status == "administrator":
            result.update(dict.fromkeys(ADMIN_RIGHTS, True), is_anonymous=False, can_be_edited=False)
        elif status == "restricted":
            result.update(is_member=True, can_send_messages=False, until_date=0)
        elif status == "creator":
            result["is_anonymous"] = False
        elif status == "kicked":
            result["until_date"] = 0
        return result


ADMIN_RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
)


def number(message: StoredMessage | int) -> int:
    """The id of a message, given it or its id."""
    return message.message_id if isinstance(message, StoredMessage) else int(message)


def present(chat: Chat) -> Iterable[int]:
    """The ids of the users who are in the chat now."""
    return [user_id for user_id, status in chat.members.items() if status in MEMBER_STATUSES]
