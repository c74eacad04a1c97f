"""Names the group whose memory is shown."""

from relay.core.models import Space
from relay.core.text import escape_markdown, shorten
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.people.bot_rights import ChatInfo, ask


async def place_of(call: ChatContext, space: Space) -> str:
    """Returns “in” and the group's name, for a heading; empty for a person's own memory."""
    if space.kind == "private":
        return ""
    name = await title_of(call, space.chat_id or 0)
    return f" in {escape_markdown(f'“{shorten(name, 60)}”')}" if name else " in a group"


async def title_of(call: ChatContext, chat_id: int) -> str:
    """Returns a group's title; empty if Telegram does not say."""
    if chat_id == call.chat_id and call.said.chat_title:
        return call.said.chat_title
    chat = await ask(ChatInfo, call.messenger, "getChat", chat_id=chat_id)
    return chat.title if chat else ""
