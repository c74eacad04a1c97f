"""The address of a calendar with a person's reminders, to which calendar apps can subscribe."""

import hashlib
import secrets

from relay.commands.context import CommandContext
from relay.commands.registry import operation
from relay.commands.reminders.heartbeat import require_own
from relay.core.errors import NotFound
from relay.core.frozen import frozen
from relay.memory.rows.proactive.feed import CalendarToken

NO_FEED = "Your calendar has no address."


@frozen
class CalendarFeed:
    """Whether a calendar has an address, and since when."""

    token: CalendarToken | None


@frozen
class CalendarAddress:
    """The address of a calendar, which is shown only once."""

    path: str
    """The path below the address of this server."""


@operation("http")
async def show_feed(ctx: CommandContext) -> CalendarFeed:
    """Returns whether the person's calendar has an address."""
    return CalendarFeed(await ctx.store.calendar_token(ctx.user_id))


@operation("http")
async def open_feed(ctx: CommandContext) -> CalendarAddress:
    """Gives the person's calendar a new address; the former one ends. Raises `NotAllowed` in a group."""
    require_own(ctx)
    token = secrets.token_urlsafe(24)
    await ctx.store.replace_calendar_token(ctx.user_id, hashlib.sha256(token.encode()).hexdigest())
    return CalendarAddress(f"/calendar/{token}.ics")


@operation("http")
async def close_feed(ctx: CommandContext) -> None:
    """Ends the address of the person's calendar. Raises `NotFound` if it has none."""
    if not await ctx.store.replace_calendar_token(ctx.user_id, None):
        raise NotFound(NO_FEED)
