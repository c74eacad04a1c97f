"""Sets up the time zone."""

from __future__ import annotations

from datetime import datetime
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from relay.commands.session.settings import zones_named
from relay.commands.session.zones import say_zone
from relay.surfaces.cli.setup.ask import read_line, say, use_environment
from relay.surfaces.cli.setup.sheet import ZONE, Sheet


def check(sheet: Sheet) -> str:
    """Returns the time in a zone. Raises `SettingsError` for an unknown zone."""
    zone = sheet.settings(ZONE).timezone
    return f"{say_zone(zone)}, where it is {datetime.now(ZoneInfo(zone)):%H:%M}" if zone else "this machine's"


def ask(sheet: Sheet) -> Sheet:
    """Asks for a zone or a city. Suggests the present zone, which Enter keeps, or this machine's."""
    if sheet.is_fixed(ZONE):
        return use_environment(sheet, (ZONE,), "The time zone", check)
    present = sheet[ZONE] or guess_zone()
    while True:
        answer = read_line(f"Your time zone, or a big city in it [{say_zone(present)}]: ")
        found = zones_named(answer) if answer else [present]
        if len(found) == 1:
            new = sheet.with_answers({ZONE: found[0]})
            say(f"{check(new)}.")
            return new
        close = found[:8] or find_similar(answer)
        if close:
            say(f"Which one do you mean: {', '.join(close)}?")
        else:
            say("Unknown time zone. Write it like Europe/Berlin.")


def guess_zone() -> str:
    """Returns the name of this machine's zone; UTC if it has none."""
    from tzlocal import get_localzone_name

    try:
        return next(iter(zones_named(get_localzone_name() or "")), "UTC")
    except Exception:
        return "UTC"


def find_similar(answer: str) -> list[str]:
    """Suggests up to three zones with a similar name or city."""
    zones = {key: zone for zone in sorted(available_timezones()) for key in (zone.lower(), _city(zone.lower()))}
    words = "_".join(answer.lower().split())
    keys = [*get_close_matches(words, zones, n=3, cutoff=0.75), *get_close_matches(_city(words), zones, n=3)]
    return list(dict.fromkeys(zones[key] for key in keys))[:3]


def _city(zone: str) -> str:
    return zone.rsplit("/", 1)[-1]
