"""Renders /persona: the assistant's role in one chat or topic."""

from __future__ import annotations

from relay.commands.soul.persona import present_persona, set_persona, show_persona, undo_persona
from relay.core.errors import CommandRefused
from relay.core.limits import PERSONA_TOKENS
from relay.core.models import Button, Rows
from relay.memory.rows.soul import Persona, PersonaChange
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.difference import exact
from relay.surfaces.chat.handlers import action, answers, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question
from relay.surfaces.chat.soul.versions import ask_with_text, byline, check_text, describe_length, difference_to

NONE = "I don't have a role here. For example: /persona You are my Spanish teacher"


@shows("persona")
async def persona(call: ChatContext) -> CommandReply:
    """Shows, sets or clears the assistant's role here."""
    text = call.text.strip()
    if text:
        return await _set(call, "" if text.lower() == "clear" else text)
    found = await show_persona(call)
    if found is None:
        return CommandReply(NONE)
    head = f"**My role here**\n{byline(call, found)} · {describe_length(found.text, PERSONA_TOKENS)}"
    rows = [[button("✎ Edit", press_edit(found.id)), _clear(found)]]
    return CommandReply(f"{head}\n\n{exact(found.text)}", rows=rows, result=found)


async def _set(call: ChatContext, text: str, instead_of: int | None = None) -> CommandReply:
    check_text(call, text, PERSONA_TOKENS, "persona")
    return await _show_change(await set_persona(call, text, instead_of))


async def _show_change(done: PersonaChange) -> CommandReply:
    """Shows what changed, with a button that restores the previous persona."""
    now, before = done.present, done.before
    if now is None:  # the command refuses that
        return CommandReply(NONE, result=done)
    ends = ", until this conversation off the record ends" if now.session_id else ""
    if not now.text:
        text = f"Cleared. From the next message on, I have no role here{ends}."
        return CommandReply(text, rows=_undo(now, before), result=done)
    head = f"From the next message on, that's my role here{ends} ({describe_length(now.text, PERSONA_TOKENS)})."
    earlier = before.text if before else ""
    changes = f" What changed:\n\n{await difference_to(earlier, now.text)}" if earlier else ""
    return CommandReply(head + changes, rows=[*_undo(now, before), [_clear(now)]], result=done)


def _undo(now: Persona, before: Persona | None) -> Rows:
    return [[button("↩ Undo", press_undo(now.id, before.id))]] if before and before.text else []


def _clear(now: Persona) -> Button:
    return button("✖ Clear", press_clear(now.id))


@action("pc")
async def press_clear(call: ChatContext, persona_id: int) -> ButtonReply:
    """Clears a persona, if it is still in use."""
    return ButtonReply(rows=(), says=await _show_change(await set_persona(call, "", persona_id)))


@action("pu")
async def press_undo(call: ChatContext, persona_id: int, before: int) -> ButtonReply:
    """Restores a persona, if the one that replaced it is still in use."""
    return ButtonReply(rows=(), says=await _show_change(await undo_persona(call, persona_id, before)))


@action("pe")
async def press_edit(call: ChatContext, persona_id: int) -> ButtonReply:
    """Sends the persona to copy, and asks for the new one."""
    found = await present_persona(call, persona_id)
    asked = f"{question('persona', found.id)} – reply to this message with my new role here."
    return ButtonReply(says=ask_with_text(asked, found.text, "persona.md", "My role here"))


@answers("persona")
async def hear_persona(call: ChatContext, number: int) -> CommandReply:
    """Sets the persona from the reply to the question."""
    text = call.text.strip()
    if call.admin and not text:
        raise CommandRefused("Please reply with text.")
    return await _set(call, text, number)
