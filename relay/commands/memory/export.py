"""Exports everything in a space to a file."""

from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import NotFound
from relay.core.models import Export


@command("export", help="what I know and what was said, as a file", surfaces=("chat", "http"))
async def export(ctx: CommandContext, title: str = "") -> Export:
    """Returns this space's export, to be packed later. `title`: the group's name."""
    await ctx.require_sight()
    if await ctx.store.export_space(ctx.space) is None:
        raise NotFound("There's nothing to export yet.")
    whose = ctx.name if ctx.space.kind == "private" else title or "the group"
    name = f"relay-export-{datetime.now(UTC):%Y%m%d}.zip"
    return Export(name, ctx.space, f"What Relay remembers of {whose}", str(ctx.zone))
