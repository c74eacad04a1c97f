"""Personas: the assistant's role in one chat or topic."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only, command
from relay.commands.soul.soul import check_length
from relay.core.errors import CommandRefused
from relay.core.limits import PERSONA_TOKENS
from relay.memory.rows.soul import Persona, PersonaChange

CHANGED = "This has changed since. /persona shows the current role."
NOTHING_TO_CLEAR = "There's nothing to clear: no role is set here."


@command("persona", usage="[<text> | clear]", help="a role for me in this chat or topic", audience="admin")
async def show_persona(ctx: CommandContext) -> Persona | None:
    """Returns the persona here; None: none is set."""
    found = await ctx.store.persona(ctx.chat_id, ctx.topic_id)
    return found if found and found.text else None


@admins_only
async def set_persona(ctx: CommandContext, text: str, instead_of: int | None = None) -> PersonaChange:
    """Sets the persona here (empty: clears it). If `instead_of` is given, only that version is replaced."""
    check_length(text, PERSONA_TOKENS, "persona")
    changed = await ctx.store.set_persona(ctx.chat_id, ctx.topic_id, text, ctx.user_id, ctx.name, instead_of)
    if (changed.present.text if changed.present else "") != text:
        raise CommandRefused(CHANGED)
    if changed.present is None or (changed.before is None and not text):
        raise CommandRefused(NOTHING_TO_CLEAR)
    return changed


@admins_only
async def undo_persona(ctx: CommandContext, present: int, before: int) -> PersonaChange:
    """Restores a version, if the one that replaced it is still current."""
    old = await ctx.store.persona(ctx.chat_id, ctx.topic_id, before)
    return await set_persona(ctx, old.text if old else "", present)


@admins_only
async def present_persona(ctx: CommandContext, persona_id: int) -> Persona:
    """Returns the current persona for editing. Raises `CommandRefused` if it is no longer this version."""
    found = await ctx.store.persona(ctx.chat_id, ctx.topic_id)
    if found is None or found.id != persona_id:
        raise CommandRefused(CHANGED)
    return found
