"""A space's settings of contexts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.commands.context import CommandContext
from relay.commands.memory.access import require_switch
from relay.commands.registry import operation
from relay.memory.contexts.space_settings import ContextSettings, change_for, changes_of


@operation("chat", "cli", "http")
async def show_settings(ctx: CommandContext) -> ContextSettings:
    """Returns this space's settings of contexts."""
    await ctx.require_sight()
    return await ctx.store.context_settings(ctx.space)


async def change_setting(ctx: CommandContext, name: str, value: str) -> ContextSettings:
    """Changes one setting, given its path in the document or the end of it. Returns all settings. Raises
    `CommandRefused` if there is no such setting, or it can't have this value."""
    await require_switch(ctx)
    change = change_for(await show_settings(ctx), name, value)
    return await ctx.store.change_context_settings(ctx.space, change)


@operation("http")
async def merge_settings(ctx: CommandContext, given: Mapping[str, Any]) -> ContextSettings:
    """Merges a part of the document into the settings. Returns all settings. Raises `OutOfRange`, without
    changing anything, if there is no such setting, or one can't have its value."""
    await require_switch(ctx)
    changes = changes_of(await show_settings(ctx), given)
    return await ctx.store.change_context_settings(ctx.space, changes)
