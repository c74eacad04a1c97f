"""Time zones that are named by their distance from UTC, as people mean it: UTC+2 is east of Greenwich.

The names of such zones in the IANA database have the opposite sign (Etc/GMT-2), so people never read or write them.
"""

from __future__ import annotations

import re

OFFSET = re.compile(r"(?:utc|gmt)?\s*([+\-−–])\s*(\d{1,2})(?::?(00|15|30|45))?", re.IGNORECASE)
STORED = re.compile(r"Etc/GMT([+-])(\d+)")
PARTS_OF_HOURS = {
    "-9:30": "Pacific/Marquesas", "+3:30": "Asia/Tehran", "+4:30": "Asia/Kabul", "+5:30": "Asia/Kolkata",
    "+5:45": "Asia/Kathmandu", "+6:30": "Asia/Yangon", "+8:45": "Australia/Eucla", "+9:30": "Australia/Darwin",
}  # fmt: skip
"""Zones without summer time for the distances that no zone is named after."""


def zone_at(words: str) -> str | None:
    """Returns the IANA name of the zone that words such as `UTC+2` or `gmt -3` mean. Empty: there is none. None: the
    words name no distance."""
    said = OFFSET.fullmatch(words.strip())
    if said is None:
        return None
    east, hours, minutes = said[1] == "+", int(said[2]), said[3] or "00"
    if minutes != "00":
        return PARTS_OF_HOURS.get(f"{'+' if east else '-'}{hours}:{minutes}", "")
    if hours == 0:
        return "UTC"
    return f"Etc/GMT{'-' if east else '+'}{hours}" if hours <= (14 if east else 12) else ""


def say_zone(name: str) -> str:
    """Returns a zone's name for people: Europe/Berlin, UTC−3."""
    stored = STORED.fullmatch(name)
    return f"UTC{'−' if stored[1] == '+' else '+'}{stored[2]}" if stored else name
