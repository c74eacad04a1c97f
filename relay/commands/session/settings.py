"""A person's own settings, effective from their next message."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.commands.reminders.zones import move_recurring
from relay.commands.session.zones import fold, zone_at, zone_of_city
from relay.core.errors import OutOfRange
from relay.core.frozen import frozen
from relay.core.text import shorten
from relay.memory.rows.choices import VALUES, Choices

FLAGS = ("sound", "previews", "tools", "diagnostics", "keep", "reactions", "tags", "compare")
"""The settings that are on or off: names of the fields of `Choices`."""
INSTALLATION = ("server", "house")
"""The values of the time zone that mean the installation's."""
ABBREVIATED = {
    "est": ("America/New_York",), "edt": ("America/New_York",), "cst": ("America/Chicago", "Asia/Shanghai"),
    "cdt": ("America/Chicago", "America/Havana"), "mst": ("America/Denver", "America/Phoenix"),
    "mdt": ("America/Denver",), "pst": ("America/Los_Angeles",), "pdt": ("America/Los_Angeles",),
    "hst": ("Pacific/Honolulu",),
}  # fmt: skip
"""The zones that people mean by an abbreviation. IANA's own zones of these names have no summer time."""
HOW = (
    "Write a choice and its value, such as /settings sound off. You can set learning (on, ask, off), voice (auto, "
    "always, never), time zone (a big city, or server for the server's), and with on or off: " + ", ".join(FLAGS) + "."
)


@frozen
class Choice:
    """One setting in a person's words: `Choice("sound", "off")`, `Choice("zone", "New York")`."""

    name: str
    value: str


@frozen
class Moved(Choices):
    """A person's settings after they chose a time zone."""

    reminders: int = 0
    """How many of their reminders that repeat moved with them."""


@command(
    "settings",
    usage="[<choice> <value>]",
    help="your settings: learning, sound, voice, what answers show, time zone",
)
async def settings(ctx: CommandContext, choice: Choice | None = None) -> Choices:
    """Changes a setting if one is given. Returns all of the person's settings."""
    if choice is None:
        return await ctx.store.choices(ctx.user_id)
    name, value = choice.name.lower(), choice.value.strip()
    if name != "zone":
        return await ctx.store.choose(ctx.user_id, {name: _value(name, value.lower())})
    zone = await _zone(value) if value.lower() not in INSTALLATION else ""
    return await _move(ctx, zone)


async def _move(ctx: CommandContext, zone: str) -> Moved:
    """Sets a person's time zone, and moves their reminders that repeat."""
    to = Choices(zone=zone).zone_or(ctx.services.zone)
    choices, moved = await ctx.store.choices(ctx.user_id), 0
    while True:
        former = choices.zone
        # Move them first: if this runs again, the former zone is still known.
        moved += await move_recurring(ctx, choices.zone_or(ctx.services.zone), to)
        choices = await ctx.store.choose(ctx.user_id, {"zone": zone, "former_zone": former})
        if choices.zone == zone:  # otherwise another zone was set meanwhile, and reminders moved there
            break
    await ctx.store.move_to_zone(ctx.user_id, str(to))
    return Moved(**{one.name: getattr(choices, one.name) for one in fields(choices)}, reminders=moved)


def _value(name: str, value: str) -> str | bool:
    """Returns a setting's stored value. Raises `OutOfRange` for an unknown setting or value."""
    values = ("on", "off") if name in FLAGS else VALUES.get(name)
    if values is None:
        raise OutOfRange(HOW)
    if value not in values:
        *others, last = values
        raise OutOfRange(f"{name} can be {', '.join(others)} or {last}, such as /settings {name} {last}")
    return value == "on" if name in FLAGS else value


async def _zone(words: str) -> str:
    """Returns a time zone's IANA name. Raises `OutOfRange` if the words match none or several."""
    if not words:
        raise OutOfRange("Name a big city in your time zone, or server for the server's: /settings time zone New York")
    found = await asyncio.to_thread(zones_named, words)
    if not found:
        raise OutOfRange(
            f"I don't know a time zone “{shorten(words, 40)}”. Name a big city in it, or write it like "
            "Europe/Berlin or UTC+2."
        )
    if len(found) > 1:
        raise OutOfRange(f"I know several with that name: {', '.join(found[:8])}. Which one?")
    return found[0]


def zones_named(words: str) -> list[str]:
    """Returns the IANA zones that match words: full name, city, abbreviation or offset from UTC, ignoring case."""
    if (distant := zone_at(words)) is not None:
        return [distant] if distant else []
    name = fold(words)
    if name in ABBREVIATED:
        return list(ABBREVIATED[name])
    known = _zones()
    if name in known:
        return [known[name]]
    found = sorted(zone for key, zone in known.items() if key.rsplit("/", 1)[-1] == name)
    if not found and (place := zone_of_city(words)):
        return [place]
    return found if len({_offsets(zone) for zone in found}) > 1 else sorted(found, key=len)[:1]


def _offsets(zone: str) -> tuple[timedelta | None, ...]:
    """Returns a zone's offsets through a year. Names of one place (Asia/Istanbul, Europe/Istanbul) have the same
    offsets."""
    return tuple(datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in range(1, 13))


@cache
def _zones() -> dict[str, str]:
    """Returns all zones by lower-case name, except those that aren't places: the sign of Etc/GMT-3 is the opposite of
    what people mean."""
    return {
        zone.lower(): zone
        for zone in available_timezones()
        if zone not in ("Factory", "localtime") and not zone.startswith("Etc/")
    }
