"""`relay preferences here`: what one conversation does with preferences."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.surfaces.cli.contexts.session import AsJson, Chat, Topic, Where, run
from relay.surfaces.cli.memory.preferences import preferences


@preferences.command()
def here(
    to: Annotated[str, typer.Argument(help="use, ignore, quiet or own.")],
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Set what one conversation does with them: use or ignore them, teach none, or keep its own."""
    from relay.commands.preferences.preferences import switch_preferences
    from relay.surfaces.chat.preferences.preferences import read_here

    run(
        Where(chat, topic, as_json),
        lambda ctx: switch_preferences(ctx, read_here(to)),
        lambda _, now: f"Preferences in this conversation: {now.here}.",
    )
