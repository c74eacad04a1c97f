"""What people do: write, edit, press, react, join and leave. Each act queues the update that a bot would get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.standins.telegram.media import as_upload, media_object
from tests.standins.telegram.text import detect_entities, utf16_length
from tests.standins.telegram.values import Chat, Json, StoredMessage, Upload, User
from tests.standins.telegram.world import World, number, present

CONTENT = (
    "photo", "document", "voice", "audio", "video", "video_note", "animation", "sticker", "location", "venue",
    "contact", "poll", "dice", "checklist", "game", "story", "giveaway", "paid_media", "invoice", "rich_message",
)  # fmt: skip
"""Fields that make a message without text a person's message. All others are service messages."""


class People(World):
    """The users' side of the server."""

    def user(self, id: int, first_name: str = "Ada", username: str | None = None, **more: Any) -> User:
        """A user, created on the first call. more: ``last_name``, ``language_code``, ``is_bot``."""
        if id not in self.users:
            self.users[id] = User(id, first_name, username, **more)
        return self.users[id]

    def dm(self, user: User | int) -> Chat:
        """The private chat of a user with the bot. Its id is the user's."""
        person = self.person(user)
        return self.chats.setdefault(person.id, Chat(person.id, "private", user=person))

    def group(
        self,
        id: int,
        title: str,
        members: Sequence[User | int] = (),
        forum: bool = False,
        *,
        type: str | None = None,
        bot_status: str = "administrator",
    ) -> Chat:
        """A group. It is a supergroup if its id starts with -100 or it is a forum. The first member owns it."""
        kind = type or ("supergroup" if forum or str(id).startswith("-100") else "group")
        # In a forum, 1 is the id of General and of the message that made the group.
        chat = Chat(id, kind, title, forum=forum, last_message_id=int(forum))
        for index, member in enumerate(members):
            chat.members[self.person(member).id] = "member" if index else "creator"
        chat.members[self.bot.id] = bot_status
        self.chats[id] = chat
        return chat

    def topic(self, chat: Chat | int, name: str, user: User | int | None = None, *, implicit: bool = False) -> int:
        """Open a topic in a forum or a private chat, queue its service message, and return its id.

        implicit: the app made up the name, because somebody just wrote into a new topic.
        """
        chat = self.chat(chat)
        message = self.open_topic(chat, self._someone(chat, user), name, implicit=implicit)
        self._deliver(chat, message)
        return message.message_id

    def rename_topic(self, chat: Chat | int, topic: int, name: str, user: User | int | None = None) -> None:
        """Rename a topic and queue its service message."""
        chat = self.chat(chat)
        chat.topics[topic].name = name
        content: Json = {"forum_topic_edited": {"name": name}}
        self._deliver(chat, self.store(chat, self._someone(chat, user), content, topic_id=topic))

    def delete_topic(self, chat: Chat | int, topic: int) -> None:
        """Delete a topic with its messages. Bots get no update for this."""
        chat = self.chat(chat)
        chat.topics[topic].deleted = True
        for message in self.messages(chat, topic):
            message.deleted = True

    async def say(
        self,
        chat: Chat | int,
        user: User | int | None,
        text: str = "",
        topic: int | None = None,
        reply_to: StoredMessage | int | None = None,
        entities: list[Json] | None = None,
        forward_from: User | str | Json | None = None,
        quote: str | None = None,
        media_group_id: str | None = None,
        photo: Upload | bytes | bool | None = None,
        document: Upload | bytes | bool | None = None,
        voice: Upload | bytes | bool | None = None,
        audio: Upload | bytes | bool | None = None,
        video: Upload | bytes | bool | None = None,
        video_note: Upload | bytes | bool | None = None,
        sticker: Upload | bytes | bool | None = None,
        animation: Upload | bytes | bool | None = None,
        **extra: Any,
    ) -> StoredMessage:
        """A message from a user (``None``: the chat's owner). With media, the text is its caption.

        ``extra`` is merged into the message and overrides everything else.
        """
        chat = self.chat(chat)
        content = self._forwarded(forward_from)
        media = {"photo": photo, "document": document, "voice": voice, "audio": audio, "video": video}
        media |= {"video_note": video_note, "sticker": sticker, "animation": animation}
        given = {kind: value for kind, value in media.items() if value is not None and value is not False}
        for kind, value in given.items():
            content[kind] = media_object(self, kind, as_upload(kind, value))
        if animation:
            content["document"] = content["animation"]  # Telegram sends it both ways
        prefix = "caption_" if given else ""
        if text:
            content["caption" if given else "text"] = text
            if found := detect_entities(text) if entities is None else entities:
                content[f"{prefix}entities"] = found
        target = chat.messages.get(number(reply_to)) if reply_to is not None else None
        if quote is not None:
            position = utf16_length(target.text.partition(quote)[0]) if target else 0
            content["quote"] = {"text": quote, "position": position, "is_manual": True}
        if media_group_id:
            content["media_group_id"] = media_group_id
        message = self.store(
            chat, self._someone(chat, user), {**content, **extra}, topic_id=topic or None, reply_to=target
        )
        self._deliver(chat, message)
        return message

    def edit(
        self,
        chat: Chat | int,
        message: StoredMessage | int,
        text: str,
        entities: list[Json] | None = None,
        photo: Upload | bytes | None = None,
    ) -> StoredMessage:
        """A user edits their message, or replaces its picture: queues ``edited_message``."""
        chat = self.chat(chat)
        stored = chat.messages[number(message)]
        key, prefix = ("text", "") if "text" in stored.raw else ("caption", "caption_")
        found = detect_entities(text) if entities is None else entities
        if photo:
            self.change(stored, {"photo": media_object(self, "photo", as_upload("photo", photo))})
        self.change(stored, {key: text, f"{prefix}entities": found or None})
        self.queue.add("edited_message", stored.raw)
        return stored

    def delete(self, chat: Chat | int, message: StoredMessage | int) -> None:
        """A user deletes a message. Bots get no update for this."""
        self.chat(chat).messages[number(message)].deleted = True

    def press(self, chat: Chat | int, user: User | int | None, message: StoredMessage | int, callback_data: str) -> str:
        """A user presses an inline button: queues ``callback_query`` and returns the query's id."""
        chat = self.chat(chat)
        stored = chat.messages[number(message)]
        gone = {"message_id": stored.message_id, "date": 0}
        raw = {**(gone if stored.deleted else stored.raw), "chat": chat.json()}
        query_id = str(9_000_000_000 + len(self.queries))
        query: Json = {
            "id": query_id,
            "from": self._someone(chat, user).json(),
            "message": raw,
            "chat_instance": str(-chat.id * 7919),
            "data": callback_data,
        }
        self.queries[query_id] = query
        self.queue.add("callback_query", query)
        return query_id

    async def button(self, message: StoredMessage, label: str, timeout: float = 30) -> str:
        """Wait for a button with this label, or else one whose label contains it. Return its data.

        An answer to a press may come before the message has its new buttons. A message whose delivery was cut off by a
        kill has other buttons until it is found again.
        """

        def data() -> str | None:
            found = (data for name, data in message.buttons.items() if label in name)
            return message.buttons.get(label) or next(found, None)

        return str(await self.wait_for(data, timeout))

    async def tap(
        self, chat: Chat | int, user: User | int | None, message: StoredMessage, label: str, timeout: float = 30
    ) -> str:
        """A user presses the button with this label, once it is there. Return the bot's answer, which may be empty."""
        query = self.press(chat, user, message, await self.button(message, label, timeout))
        answer = await self.wait_for(lambda: self.answers.get(query), timeout)
        return str(answer.get("text") or "")

    def react(self, chat: Chat | int, user: User | int | None, message: StoredMessage | int, emoji: str | None) -> None:
        """A user sets a reaction, or removes it with ``None``: queues ``message_reaction``."""
        chat = self.chat(chat)
        stored, person = chat.messages[number(message)], self._someone(chat, user)
        new = [{"type": "emoji", "emoji": emoji}] if emoji else []
        old, stored.reactions[person.id] = stored.reactions.get(person.id, []), new
        update = {"chat": chat.json(), "message_id": stored.message_id, "user": person.json(), "date": self.now}
        self.queue.add("message_reaction", {**update, "old_reaction": old, "new_reaction": new})

    def stop_generation(self, chat: Chat | int, draft_id: int, topic: int | None = None) -> None:
        """A user presses stop under a draft: queues ``stopped_message_generation``."""
        update: Json = {"chat": self.chat(chat).json(), "draft_id": draft_id}
        if topic:
            update["message_thread_id"] = topic
        self.queue.add("stopped_message_generation", update)

    def add_member(self, chat: Chat | int, user: User | int, by: User | int | None = None) -> StoredMessage:
        """Someone (maybe the bot) joins a group: queues the service message and the membership update."""
        chat, person = self.chat(chat), self.person(user)
        actor = self._someone(chat, by)
        status = "member"
        self._member_changed(chat, actor, person, status)
        message = self.store(chat, actor, {"new_chat_members": [person.json()]})
        self._deliver(chat, message)
        return message

    def remove_member(self, chat: Chat | int, user: User | int, by: User | int | None = None) -> StoredMessage | None:
        """Someone leaves a group. With ``by``, or if it is the bot, they are removed. Returns ``None`` if the bot can't
        see it."""
        chat, person = self.chat(chat), self.person(user)
        thrown_out = by is not None or person is self.bot
        actor = self._someone(chat, by) if thrown_out else person
        message = self.store(chat, actor, {"left_chat_member": person.json()})
        self._member_changed(chat, actor, person, "kicked" if thrown_out else "left")
        if person is self.bot:
            return None
        self._deliver(chat, message)
        return message

    def set_member(self, chat: Chat | int, user: User | int, status: str, by: User | int | None = None) -> None:
        """Change a status (``administrator``, ``member``, ``restricted``, …) without a service message."""
        chat = self.chat(chat)
        self._member_changed(chat, self._someone(chat, by), self.person(user), status)

    def block(self, user: User | int) -> None:
        """The user blocks the bot."""
        self._set_blocked(self.person(user), blocked=True)

    def unblock(self, user: User | int) -> None:
        """The user unblocks the bot."""
        self._set_blocked(self.person(user), blocked=False)

    def migrate(self, chat: Chat | int, new_id: int) -> Chat:
        """Turn a basic group into a supergroup with a new id: both service messages are queued."""
        old = self.chat(chat)
        new = self.group(new_id, old.title or "", type="supergroup")
        new.members = dict(old.members)
        self._deliver(old, self.store(old, self._someone(old, None), {"migrate_to_chat_id": new_id}))
        old.migrated_to = new_id
        self._deliver(new, self.store(new, self._someone(new, None), {"migrate_from_chat_id": old.id}))
        return new

    def push(self, raw_update: Json) -> int:
        """Queue any update, even if the bot didn't ask for its kind. Its id is assigned unless given."""
        return self.queue.push(raw_update)

    def redeliver(self, update_id: int) -> None:
        """Hand out the same update again, even though it was acknowledged."""
        self.queue.redeliver(update_id)

    # Helpers of the acts above

    def _someone(self, chat: Chat, user: User | int | None) -> User:
        """The user who acts. The default is the user of the private chat or the first human of the group."""
        if user is not None:
            return self.person(user)
        if chat.user is not None:
            return chat.user
        return next(self.users[user_id] for user_id in present(chat) if user_id != self.bot.id)

    def _forwarded(self, source: User | str | Json | None) -> Json:
        """The origin of a forwarded message: a user, a hidden user's name, or a raw MessageOrigin."""
        if source is None:
            return {}
        date = self.now - 3600
        if isinstance(source, User):
            return {"forward_origin": {"type": "user", "sender_user": source.json(), "date": date}}
        if isinstance(source, str):
            return {"forward_origin": {"type": "hidden_user", "sender_user_name": source, "date": date}}
        return {"forward_origin": source}

    def _deliver(self, chat: Chat, message: StoredMessage) -> None:
        """Queue a message if the bot is in the chat and its privacy mode allows it."""
        if not chat.private and self.bot.id not in present(chat):
            return
        if self._visible(chat, message.raw):
            self.queue.add("message", message.raw)

    def _visible(self, chat: Chat, raw: Json) -> bool:
        if chat.private or self.can_read_all_group_messages or chat.members.get(self.bot.id) == "administrator":
            return True
        text = str(raw.get("text", raw.get("caption", "")))
        entities = raw.get("entities") or raw.get("caption_entities") or []
        if any(entity["type"] == "bot_command" for entity in entities) or f"@{self.bot.username}" in text:
            return True
        reply = raw.get("reply_to_message", {})
        service = not text and not any(kind in raw for kind in CONTENT)
        return service or reply.get("from", {}).get("id") == self.bot.id

    def _member_changed(self, chat: Chat, actor: User, person: User, status: str) -> None:
        old = self.membership(chat, person.id)
        chat.members[person.id] = status
        update = {"chat": chat.json(), "from": actor.json(), "date": self.now, "old_chat_member": old}
        update["new_chat_member"] = self.membership(chat, person.id)
        if person is self.bot:
            self.queue.add("my_chat_member", update)
        elif chat.members.get(self.bot.id) == "administrator":
            self.queue.add("chat_member", update)

    def _set_blocked(self, person: User, *, blocked: bool) -> None:
        person.blocked_bot = blocked
        chat = self.dm(person)
        chat.members[self.bot.id] = "member" if blocked else "kicked"
        self._member_changed(chat, person, self.bot, "kicked" if blocked else "member")
