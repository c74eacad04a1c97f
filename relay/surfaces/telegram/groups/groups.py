"""Groups: the space of a chat, whether every message in it is for the bot, and who can read it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from relay.core.errors import ChatMigrated, MessengerError
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.ports import Messenger
from relay.surfaces.chat.people.bot_rights import ADMINISTRATOR, ChatInfo, ChatMember, decode
from relay.surfaces.telegram.outgoing.insist import call_until_answered
from relay.surfaces.telegram.parsing.objects import Chat
from relay.surfaces.telegram.parsing.updates import Bot

ALONE = 2
"""The number of members in a group of one person and the bot."""
OTHERS_SECONDS = 60.0
"""How long to assume, without asking, that a group has other members."""
MOVED_SECONDS = 120.0
"""How long after a group gets a new id Telegram may report that the bot joined it."""
MOST_KNOWN = 10_000
"""The most groups to remember; then the memory is cleared."""


Ask = Callable[..., Awaitable[Any]]
"""Calls a method of the Bot API with parameters."""


async def is_alone_with(ask: Ask, bot_id: int, chat_id: int, user_id: int) -> bool:
    """Whether a group has this person, the bot, and nobody else who could read it. Raises `MessengerError`.

    Two members are not enough: the person may have left, or may comment from outside in the discussion group of a
    channel. A public group counts as shared, and so does one in a community, whose members can read it. So does one
    where the bot is not an administrator: what Telegram says of other members is only guaranteed to administrators
    (https://core.telegram.org/bots/api#getchatmember).
    """
    if int(await ask("getChatMemberCount", chat_id=chat_id)) != ALONE:
        return False
    told = await asyncio.gather(
        ask("getChat", chat_id=chat_id),
        ask("getChatMember", chat_id=chat_id, user_id=bot_id),
        ask("getChatMember", chat_id=chat_id, user_id=user_id),
    )
    chat, bot, member = decode(ChatInfo, told[0]), decode(ChatMember, told[1]), decode(ChatMember, told[2])
    if chat is None or bot is None or member is None:
        return False
    return bot.status in ADMINISTRATOR and member.present and not chat.open


class Groups:
    """Knows which groups have only one person and the bot. Asks Telegram again before every turn that relies on that,
    and before every part of its answer."""

    def __init__(self, messenger: Messenger, bot_id: int) -> None:
        self._messenger = messenger
        self._bot_id = bot_id
        self._others: dict[int, float] = {}
        self._moved: dict[int, float] = {}

    def may_be_open(self, chat: Chat) -> bool:
        """Whether every message may be for the bot, without asking Telegram: true unless others were seen just now."""
        return chat.private or (not chat.username and self._others.get(chat.id, 0) < time.monotonic())

    def note_change(self, chat_id: int) -> None:
        """Notes that someone joined or left."""
        self._others.pop(chat_id, None)

    def note_move(self, chat_id: int) -> None:
        """Notes that a known group has just become this supergroup."""
        if len(self._moved) > MOST_KNOWN:
            self._moved.clear()
        self._moved[chat_id] = time.monotonic() + MOVED_SECONDS

    def just_moved(self, chat_id: int) -> bool:
        """Whether a chat is a known group with a new id, not a group that the bot has joined."""
        return self._moved.get(chat_id, 0) > time.monotonic()

    async def is_alone(self, chat: Chat, user_id: int) -> bool:
        """Whether the chat is a private group of just this person and the bot; false in doubt.

        Waits out temporary errors: a message must not be dropped because Telegram was unreachable.
        """
        if not self.may_be_open(chat):
            return False
        alone = await self._is_alone_in(chat.id, user_id)
        if not alone:
            if len(self._others) > MOST_KNOWN:
                self._others.clear()
            self._others[chat.id] = time.monotonic() + OTHERS_SECONDS
        return alone

    async def _is_alone_in(self, chat_id: int, user_id: int) -> bool:
        try:
            return await is_alone_with(partial(call_until_answered, self._messenger), self._bot_id, chat_id, user_id)
        except ChatMigrated as error:
            return await self._is_alone_in(error.new_chat_id, user_id)
        except MessengerError:
            return False

    async def may_read(self, chat: Chat, user_id: int, space: Space, lent: bool) -> bool:
        """Whether a reply made from this space may be shown in the chat now. `lent`: it also uses the person's own
        memory, which they lend to the group while they are a member."""
        if chat.private:
            return True
        if space.kind == "private":
            return await self.is_alone(chat, user_id)
        return not lent or await self.sees(space, user_id)

    async def space_of(self, chat: Chat, user_id: int) -> tuple[Space, bool]:
        """Returns a user's space in a chat, and whether every message there is for the bot."""
        if chat.private or await self.is_alone(chat, user_id):
            return Space("private", owner_id=user_id), True
        return Space("group", chat_id=chat.id), False

    def eyes_of(self, user_id: int) -> Callable[[Space], Awaitable[bool]]:
        """Returns a check of whether a person sees a space, for one command. Asks Telegram once about each space."""
        known: dict[Space, bool] = {}

        async def sees(space: Space) -> bool:
            if space not in known:
                known[space] = await self.sees(space, user_id)
            return known[space]

        return sees

    async def sees(self, space: Space, user_id: int) -> bool:
        """Whether a person may see a space: their own, or that of a group they are in."""
        if space.kind == "private":
            return space.owner_id == user_id
        try:
            member = await call_until_answered(self._messenger, "getChatMember", chat_id=space.chat_id, user_id=user_id)
        except MessengerError:
            return False
        told = decode(ChatMember, member)
        return told is not None and told.present


@frozen
class Connection:
    """A bot, its messenger, and what it knows about its groups."""

    messenger: Messenger
    bot: Bot
    groups: Groups


def make_connection(messenger: Messenger, bot: Bot) -> Connection:
    """Makes a connection that knows no groups yet."""
    return Connection(messenger, bot, Groups(messenger, bot.id))
