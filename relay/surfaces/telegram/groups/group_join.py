"""Joining a group: one message that explains how the bot works there, and what to change. Leaving: what ends then."""

from __future__ import annotations

import asyncio
import time

from relay.commands.context import Services
from relay.core.text import escape_markdown
from relay.memory.calls.people import EVERYWHERE
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Message as Note
from relay.memory.rows.delivery import Part
from relay.surfaces.chat.people.bot_rights import BotRights, BotUser, ChatMember, ask, find_standing, name_in, reads_all
from relay.surfaces.telegram.groups.groups import Connection
from relay.surfaces.telegram.outgoing.menu import register_admin
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.parsing.objects import Chat, ChatMemberUpdated, Message, User
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import topic_of

SETTLE_SECONDS = 1.0
"""How long to wait for the bot's rights, and for the news that a group only got a new id."""
LEFT = (
    "You're no longer in {}, so I've paused the reminders that you asked for there. If you come back, you can resume "
    "them there with /reminders."
)
AGAIN_SECONDS = 60.0
"""How soon after a greeting the bot stays silent if it is added again."""


class GroupGreeter:
    """Greets groups, and explains changes of the bot's rights."""

    def __init__(self, services: Services, connection: Connection) -> None:
        self._services = services
        self._messenger = connection.messenger
        self._bot = connection.bot
        self._groups = connection.groups
        self._arriving: set[int] = set()
        self._greeted: dict[int, tuple[float, bool | None]] = {}
        """When a group was last greeted (monotonic), and whether the bot could read all messages then."""

    async def announce_change(self, turn: ClaimedTurn, change: ChatMemberUpdated) -> list[Part]:
        """Returns the messages about a change of the bot's own membership."""
        before, now = change.old_chat_member, change.new_chat_member
        if before and before.present:
            return await self._other_rights(change.chat, turn.user_id, before, now)
        if change.chat.id in self._arriving:
            return []
        self._arriving.add(change.chat.id)
        try:
            return await self._greet(turn, change.chat)
        finally:
            self._arriving.discard(change.chat.id)

    async def announce_leaving(self, turn: ClaimedTurn, message: Message, gone: User) -> list[Part]:
        """Pauses the reminders of a person who left a group, and ends the lending of their memory."""
        title = escape_markdown(f"“{message.chat.title}”" if message.chat.title else "the group")
        note = Note(chat_id=gone.id, text=LEFT.format(title), user_id=gone.id, key=f"left {turn.turn_id}")
        await self._services.store.pause_reminders(self._bot.id, message.chat.id, gone.id, [note])
        if not await self._services.store.unlink(message.chat.id, gone.id):
            return []
        line = f"{escape_markdown(gone.first_name or 'Someone')} has left, so I no longer use their memory here."
        return message_parts(line, Place(message.chat.id, topic_of(message), False), silent=True)

    async def _greet(self, turn: ClaimedTurn, chat: Chat) -> list[Part]:
        await asyncio.sleep(SETTLE_SECONDS)
        await self._register(chat.id)
        said_at, _ = self._greeted.get(chat.id, (-AGAIN_SECONDS, None))
        now = await find_standing(self._messenger, self._bot.id, chat.id)
        if self._groups.just_moved(chat.id):
            self._note(chat.id, now.reads)
            return []
        if time.monotonic() - said_at < AGAIN_SECONDS:
            return []
        alone = await self._groups.is_alone(chat, turn.user_id)
        place = await self._services.store.place(chat.id, EVERYWHERE)
        lender = place.lender if place.lender in self._services.people.admins else None
        name = await name_in(self._messenger, chat.id, lender) if lender else ""
        text = format_greeting(now, place.everywhere, alone, name)
        if not alone and not now.administrator and not chat.username:
            text += f"\n- {TO_BE_ALONE}"
        self._note(chat.id, now.reads)
        if now.writes is False:
            title = escape_markdown(chat.title or "the group")
            text = f"You added me to {title}, but I'm not allowed to write there. Here's what I would say:\n\n{text}"
            return message_parts(text, Place(turn.user_id, 0, True))
        return message_parts(text, Place(chat.id, 0, False), silent=True)

    async def _other_rights(
        self, chat: Chat, user_id: int, before: ChatMember | None, now: ChatMember | None
    ) -> list[Part]:
        """Returns a line if the bot now gets more or fewer messages than before."""
        if chat.id in self._arriving:
            return []
        me = await ask(BotUser, self._messenger, "getMe")
        reads = reads_all(me, now)
        _, said = self._greeted.get(chat.id, (0.0, reads_all(me, before)))
        if reads is None or reads == said:
            return []
        self._note(chat.id, reads)
        answers = (await self._services.store.place(chat.id, EVERYWHERE)).everywhere
        if answers == "off":
            return []
        if reads:
            line = "I can read every message here now. I still only answer when addressed; /answer all changes that."
            if await self._groups.is_alone(chat, user_id):
                everything = answers in (None, "all")
                does = " and answer everything" if everything else ". I answer when addressed; /answer changes that"
                line = f"It's just the two of us now, so I use your own memory here{does}."
            elif answers == "all":
                line = "I can read every message here now, and I answer them all (/answer)."
        else:
            username = (me.username if me else "") or self._bot.username
            line = f"From now on I only see messages addressed to me. {BotRights(False, True, False, username).remedy}"
        return message_parts(line, Place(chat.id, 0, False), silent=True)

    def _note(self, chat_id: int, reads: bool | None) -> None:
        if len(self._greeted) > 10_000:
            self._greeted.clear()
        self._greeted[chat_id] = (time.monotonic(), reads)

    async def _register(self, chat_id: int) -> None:
        """Offers the admins' commands to the admins who are in the group."""
        await self._services.people.refresh(self._services.store)
        for admin in self._services.people.admins:
            there = {"chat_id": chat_id, "user_id": admin}
            member = await ask(ChatMember, self._messenger, "getChatMember", **there)
            if member and member.present:
                await register_admin(self._messenger, chat_id, admin)


TO_BE_ALONE = (
    "In a group of just the two of us, I use your own memory and answer everything, but only if I'm an administrator. "
    "Otherwise Telegram doesn't tell me reliably who is here."
)


def format_greeting(now: BotRights, answers: str | None, alone: bool, lender: str) -> str:
    """Returns the greeting (Markdown). `alone`: with one person and nobody else; `lender`: who lends their memory."""
    lines = [describe_answers(now, answers, alone)]
    if now.forum:
        lines.append("Each topic is a separate conversation.")
    if alone:
        lines.append("As long as it's just the two of us here, I use your own memory, as in our private chat.")
    else:
        lines.append(
            "This group has its own memory: what I learn here stays here, and I don't use what anyone tells me in "
            "private."
        )
    if lender:
        lines.append(
            f"{escape_markdown(lender)} lends me their memory, for their own messages only; /unlink takes it back."
        )
    if now.reads is False:
        lines.append(f"Telegram only shows me messages addressed to me{', so far' if alone else ''}. {now.remedy}")
    return "Hello! Here's how it works:\n\n" + "\n".join(f"- {line}" for line in lines)


def describe_answers(now: BotRights, answers: str | None, alone: bool) -> str:
    """Says what the bot answers here, and who can change that."""
    addressed = f"mention me (@{now.username})" if now.username else "mention me"
    addressed += ", reply to me, or use a command"
    change = "My admins can change that with /answer"
    topics = ", also for a single topic" if now.forum else ""
    match answers:
        case "off":
            return "I'm switched off here until one of my admins sends /answer addressed."
        case "all":
            return f"I answer every message of the people I know. {change}{topics}."
        case None if alone:
            return f"No one else is here, so I answer everything. When others join, I answer when you {addressed}."
    return f"I answer the people I know when they {addressed}. {change} (all or off{topics})."
