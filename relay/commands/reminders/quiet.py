"""Holds back unasked messages."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.commands.reminders.intents import check_phrase
from relay.core.errors import NotAllowed, WrongArgument
from relay.core.frozen import frozen
from relay.memory.reminders.phrases import Unclear, Understood, read_phrase

QUIET_HERE = (
    "In a group, only its administrators and my admins can do that, because it affects everyone. You can pause your "
    "own reminders: /reminders"
)
HOW = "Until when? /quiet until 8:00, /quiet until tomorrow 9:00, or /quiet on"
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)
"""The time that means until `/quiet off`."""


@frozen
class Quiet:
    """Whether unasked messages are held back."""

    until: datetime | None
    """Until when; None: they are not held back."""


@command(
    "quiet",
    usage="[on|off|until 8:00]",
    help="hold back reminders and everything else I send on my own (in a group: administrators only)",
    surfaces=("chat", "cli", "http"),
)
async def quiet(ctx: CommandContext, words: str = "", administers: bool = False) -> Quiet:
    """Holds back unasked messages until a time or until `off`, or no longer. Without words, returns the state. In a
    group this affects everyone, so only those who administer it and admins may set it."""
    await ctx.require_sight()
    word = words.strip().casefold()
    if not word:
        return Quiet((await ctx.store.reminders(ctx.space, ctx.user_id, 0, 1)).quiet_until)
    if ctx.space.kind == "group" and not (administers or ctx.admin):
        raise NotAllowed(QUIET_HERE)
    if word in ("on", "off"):
        until = FOREVER if word == "on" else None
        await ctx.store.quiet(ctx.space, until.isoformat() if until else None)
        return Quiet(until)
    check_phrase(word)
    begun, _, rest = word.partition(" ")
    phrase = rest if begun in ("until", "for", "bis", "für") else word
    tried = [f"{phrase}:00" if phrase.isdecimal() and begun not in ("for", "für") else phrase]
    if begun not in ("until", "bis"):
        tried.insert(0, f"in {phrase}")
    read = [read_phrase(one, datetime.now(UTC), ctx.zone) for one in tried]
    said = next((one for one in read if isinstance(one, Understood) and not one.rule), None)
    if said is None:
        asked = read[-1].question if isinstance(read[-1], Unclear) and read[-1].lacks_time else HOW
        raise WrongArgument(asked)
    await ctx.store.quiet(ctx.space, said.start.isoformat())
    return Quiet(said.start)
