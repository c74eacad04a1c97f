"""Personas: the role that the assistant has in one chat or topic."""

from __future__ import annotations

from relay.commands.registry import ADMINS_ONLY
from relay.conversation.prompt import PERSONA_TOKENS
from relay.core.text import parse_number
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, verb
from relay.surfaces.chat.reply import ButtonReply, CommandReply, Json, Rows, button, question
from relay.surfaces.chat.soul.versions import about, byline, difference_to, to_copy, unfit, whole

CHANGED = "This has changed since. /persona shows how it is."


@verb("persona", usage="[<text> | clear]", help="a role for me in this chat or topic", admin=True)
async def persona(call: ChatContext) -> CommandReply:
    """Shows, sets or clears the assistant's role here."""
    text = call.text.strip()
    if text:
        return await put(call, "" if text.lower() == "clear" else text)
    row = await call.store.persona(call.chat_id, call.topic_id)
    if row is None or not row["text"]:
        return CommandReply("No role is set here. For example: /persona You are my Spanish teacher")
    head = f"**My role here**\n{byline(call, row)} · {about(row['text'], PERSONA_TOKENS)}"
    rows = [[button("✎ Edit", f"pe:{row['id']}"), button("✖ Clear", f"pc:{row['id']}")]]
    return CommandReply(f"{head}\n\n{whole(row['text'])}", rows=rows)


async def put(call: ChatContext, text: str, instead_of: int | None = None) -> CommandReply:
    """Sets a persona (empty: clears it), only in the place of the version `instead_of` when that is given."""
    if no := unfit(call, text, PERSONA_TOKENS, "persona"):
        return CommandReply(no, refused=True)
    now, before = await call.store.set_persona(call.chat_id, call.topic_id, text, call.user_id, call.name, instead_of)
    present = now["text"] if now else ""
    if present != text:
        return CommandReply(CHANGED, refused=True)
    if now is None or (before is None and not text):
        return CommandReply("There is nothing to clear: no role is set here.", refused=True)
    earlier = before["text"] if before else ""
    ends = ", until this conversation off the record ends" if now["session_id"] else ""
    if not text:
        return CommandReply(f"Cleared: from the next message on I have no role here{ends}.", rows=back(now, before))
    head = f"From the next message on, this is my role here{ends} ({about(text, PERSONA_TOKENS)})."
    changes = f" What changed:\n\n{await difference_to(earlier, text)}" if earlier else ""
    return CommandReply(head + changes, rows=[*back(now, before), [button("✖ Clear", f"pc:{now['id']}")]])


def back(now: Json, before: Json | None) -> Rows:
    """The button that brings back what was there before."""
    return [[button("↩ Undo", f"pu:{now['id']}:{before['id']}")]] if before and before["text"] else []


@pressed("pc")
async def clear(call: ChatContext, number: str) -> ButtonReply:
    """Clears a persona, when it is the present one still."""
    return await changed(call, "", parse_number(number) or 0)


@pressed("pu")
async def undo(call: ChatContext, number: str, before: str) -> ButtonReply:
    """Brings a persona back, when the one that took its place is the present one still."""
    row = await call.store.persona(call.chat_id, call.topic_id, parse_number(before) or 0)
    return await changed(call, row["text"] if row else "", parse_number(number) or 0)


async def changed(call: ChatContext, text: str, instead_of: int) -> ButtonReply:
    """What a button makes of the persona."""
    if not call.admin:
        return ButtonReply(ADMINS_ONLY)
    told = await put(call, text, instead_of)
    return ButtonReply(rows=(), says=told) if told.rows else ButtonReply(told.text)


@pressed("pe")
async def ask(call: ChatContext, number: str) -> ButtonReply:
    """Sends the persona to copy, and asks for the new one."""
    if not call.admin:
        return ButtonReply(ADMINS_ONLY)
    row = await call.store.persona(call.chat_id, call.topic_id)
    if row is None or row["id"] != parse_number(number):
        return ButtonReply(CHANGED)
    asked = f"{question('persona', row['id'])} – reply to this message with my role here."
    return ButtonReply(says=to_copy(asked, row["text"], "persona.md", "My role here"))


@answers("persona")
async def edit(call: ChatContext, number: int) -> CommandReply:
    """Sets the answer to that question."""
    if not call.admin:
        return CommandReply(ADMINS_ONLY)
    text = call.text.strip()
    return await put(call, text, number) if text else CommandReply("Please reply with text.")
