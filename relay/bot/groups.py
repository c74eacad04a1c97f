"""Groups: whose space a chat belongs to, and whether every message in it is for the bot."""

from __future__ import annotations

import time
from typing import Any

from relay.bot.insist import insist
from relay.errors import ChatMigrated, MessengerError, MessengerRefused, TokenRefused
from relay.models import Space
from relay.ports import Messenger

ALONE = 2
"""How many members a group of one person and the bot has."""
OTHERS_SECONDS = 60.0
"""How long it is believed without a look that other people are in a group."""
MOVED_SECONDS = 120.0
"""How long after a group got another id Telegram may tell that we are in it."""
MOST_KNOWN = 10_000
"""Of so many groups something is kept in mind at most; then it begins anew."""


class Groups:
    """Knows which groups have one human only. That is asked again before every turn that relies on it."""

    def __init__(self, messenger: Messenger) -> None:
        self._messenger = messenger
        self._others: dict[int, float] = {}
        self._moved: dict[int, float] = {}

    def may_be_open(self, chat: dict[str, Any]) -> bool:
        """Whether every message may be for the bot, without asking: True unless others were seen just now."""
        if chat.get("type") == "private":
            return True
        return not chat.get("username") and self._others.get(chat.get("id", 0), 0) < time.monotonic()

    def changed(self, chat_id: int) -> None:
        """Somebody joined or left."""
        self._others.pop(chat_id, None)

    def moved(self, chat_id: int) -> None:
        """A group we know has just become this supergroup."""
        if len(self._moved) > MOST_KNOWN:
            self._moved.clear()
        self._moved[chat_id] = time.monotonic() + MOVED_SECONDS

    def just_moved(self, chat_id: int) -> bool:
        """Whether a chat is a group that has just got this id, and not one that we came into."""
        return self._moved.get(chat_id, 0) > time.monotonic()

    async def only_human(self, chat: dict[str, Any]) -> bool:
        """Whether the chat is a private group of just one person and the bot. In doubt it is not."""
        if not self.may_be_open(chat):
            return False
        alone = await self._count(chat["id"]) == ALONE
        if not alone:
            if len(self._others) > MOST_KNOWN:
                self._others.clear()
            self._others[chat["id"]] = time.monotonic() + OTHERS_SECONDS
        return alone

    async def _count(self, chat_id: int) -> int:
        """How many members a chat has; 0 when Telegram does not tell. Trouble that passes is waited out: a message is
        not to be dropped, nor a private word to be shown, for not knowing."""
        try:
            return int(await insist(self._messenger, "getChatMemberCount", chat_id=chat_id))
        except ChatMigrated as error:
            return await self._count(error.new_chat_id)
        except (MessengerRefused, TokenRefused):
            return 0

    async def space_of(self, chat: dict[str, Any], user_id: int) -> tuple[Space, bool]:
        """The space in which a user speaks in a chat, and whether every message there is for the bot."""
        if chat.get("type") == "private" or await self.only_human(chat):
            return Space("private", owner_id=user_id), True
        return Space("group", chat_id=chat["id"]), False

    async def sees(self, space: Space, user_id: int) -> bool:
        """Whether a person may see what a space holds: their own, or that of a group in which they are."""
        if space.kind == "private":
            return space.owner_id == user_id
        try:
            member = await self._messenger.call("getChatMember", chat_id=space.chat_id, user_id=user_id)
        except MessengerError:
            return False
        status = member.get("status")
        return status in ("creator", "administrator", "member") or bool(member.get("is_member"))
