"""Versions requested by their settings, some of which may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.commands.context import CommandContext
from relay.commands.contexts.compress import NOTHING
from relay.commands.contexts.space_settings import show_settings
from relay.commands.contexts.versions import all_versions
from relay.commands.registry import operation
from relay.core.errors import OutOfRange
from relay.memory.contexts.settings import CompressionSettings, read_settings
from relay.memory.rows.contexts.versions import Version


@operation("http")
async def complete_settings(ctx: CommandContext, given: Mapping[str, Any]) -> CompressionSettings:
    """Completes settings in their JSON shape with the space's defaults. A ratio alone means uniform. Raises
    `OutOfRange`."""
    defaults = (await show_settings(ctx)).defaults
    shape = {
        "mode": "uniform" if "compactionRatio" in given and "tierPreset" not in given else "tiered",
        "tierPreset": "custom" if given.get("customTiers") else defaults.preset,
        "keepitMode": "decay" if defaults.decay else "preserve-all",
        "model": defaults.model,
    }
    return read_settings(shape | dict(given))


@operation("http")
async def find_made(
    ctx: CommandContext, session_id: int, settings: CompressionSettings, source_id: int | None
) -> Version | None:
    """Returns the newest ready version of a session that these settings would make again. Raises `OutOfRange` if there
    is nothing to compress."""
    await ctx.require_sight()
    outline = await ctx.store.session_outline(ctx.space, ctx.chat_id, ctx.topic_id, session_id, source_id)
    if outline is None or not outline.units:
        raise OutOfRange(NOTHING)
    wanted = settings.as_json() | {"sessionDistance": settings.distance or outline.distance}
    made = await all_versions(ctx, session_id)
    return next((v for v in made if v.status == "ready" and v.settings == wanted and v.source_id == source_id
                 and not v.fresh), None)  # fmt: skip
