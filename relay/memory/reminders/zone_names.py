"""Finds the name of a time zone in a phrase. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from zoneinfo import available_timezones

from relay.memory.reminders.languages.language import words
from relay.memory.reminders.reading.parts import word

ZONES = words("utc gmt bst cet cest eet eest est edt cst cdt mst mdt pst pdt jst aest aedt msk ortszeit")
REGIONS = words("eastern central mountain pacific local")


def names_zone(rest: Sequence[str]) -> bool:
    """Tests whether words begin with a time zone: UTC, GMT+1, Asia/Tokyo, Tokyo time."""
    said = word(rest, 0).strip("()")
    if said.partition("+")[0].partition("-")[0] in ZONES or ("/" in said and said in places()):
        return True
    return any(
        word(rest, length) == "time" and (" ".join(rest[:length]) in places() or said in REGIONS) for length in (1, 2)
    )


@cache
def places() -> frozenset[str]:
    """Returns the names of time zones, and of their cities."""
    zones = {zone.casefold() for zone in available_timezones() if "/" in zone}
    return frozenset(zones | {zone.rpartition("/")[2].replace("_", " ") for zone in zones})
