"""Who may see and change what of a memory, and where it may be shown."""

from __future__ import annotations

from relay.core.models import Space
from relay.core.text import escape_markdown, parse_number, shorten
from relay.memory.rows.memories import MemoryLine, OpenedMemory
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory_pages import Page
from relay.surfaces.chat.people.bot_rights import ChatInfo, ask
from relay.surfaces.chat.reply import ButtonReply

GONE = ButtonReply("This is gone, or not yours to see.")
"""What everybody is told who presses what is another's, too."""


async def may_see(call: ChatContext, space: Space) -> bool:
    """Whether a person sees a space: it is that of the place where they speak, or they see it from elsewhere too."""
    return space == call.space or await call.sees(space)


def at_home(call: ChatContext, space: Space) -> bool:
    """Whether what a space holds may be said where this was asked: in one's own chat, or among those it belongs to."""
    return call.private or space in (call.space, Space("group", chat_id=call.chat_id))


def may_edit(row: MemoryLine, space: Space, user_id: int, admin: bool) -> bool:
    """In a group a memory is reworded by whom it is about, or by an admin; in a private space by its owner."""
    return space.kind == "private" or admin or row.subject_id == user_id


def may_forget(row: MemoryLine, space: Space, user_id: int, admin: bool) -> bool:
    """So it is forgotten and pinned, and by everybody when it is about nobody."""
    return row.subject_id is None or may_edit(row, space, user_id, admin)


async def seen(call: ChatContext, memory_id: str) -> OpenedMemory | None:
    """A memory that this person may see here: lists are looked through in one's own chat."""
    row = await call.store.opened(parse_number(memory_id) or 0, call.user_id, call.admin) if call.private else None
    return row if row is not None and await may_see(call, row.space) else None


async def space_of(call: ChatContext, space_id: str) -> Space | None:
    """The space that a button names (0: one's own), if this person may see it here."""
    if not call.private:
        return None
    if space_id == "0":
        return Space("private", owner_id=call.user_id)
    space = await call.store.space(parse_number(space_id) or 0)
    return space if space is not None and await may_see(call, space) else None


async def place_of(call: ChatContext, space: Space) -> str:
    """Where something is known, for a heading: “in” and the group's name; empty for a person's own memory."""
    if space.kind == "private":
        return ""
    name = await title_of(call, space.chat_id or 0)
    return f" in {escape_markdown(f'“{shorten(name, 60)}”')}" if name else " in a group"


async def title_of(call: ChatContext, chat_id: int) -> str:
    """What a group is called; empty when Telegram does not tell."""
    if call.chat_id == chat_id and call.said.chat_title:
        return call.said.chat_title
    chat = await ask(ChatInfo, call.services.messenger, "getChat", chat_id=chat_id)
    return chat.title if chat else ""


def shown(page: Page) -> ButtonReply:
    """A page in place of the message's present one."""
    return ButtonReply(text=page.text, rows=page.rows)
