"""`relay preferences here`: what one conversation does with preferences."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.preferences.preferences import switch_preferences
from relay.memory.rows.turns.preferences import Preferences
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.preferences.preferences import read_here
from relay.surfaces.cli.memory.preferences import preferences
from relay.surfaces.cli.owner import owner_command


@preferences.command()
@owner_command(lambda _, now: f"Preferences in this conversation: {now.here}.", anywhere=True)
async def here(ctx: ChatContext, to: Annotated[str, typer.Argument(help="use, ignore, quiet or own.")]) -> Preferences:
    """Set what one conversation does with them: use or ignore them, teach none, or keep its own."""
    return await switch_preferences(ctx, read_here(to))
