"""Time zones as people name them: by a place, or by their offset from UTC, where UTC+2 is east of Greenwich.

The IANA database names the latter with the opposite sign (Etc/GMT-2), so people never read or write these names.
"""

from __future__ import annotations

import re
import unicodedata

OFFSET = re.compile(r"(?:utc|gmt)?\s*([+\-−–])\s*(\d{1,2})(?::?(00|15|30|45))?", re.IGNORECASE)
STORED = re.compile(r"Etc/GMT([+-])(\d+)")
PARTS_OF_HOURS = {
    "-9:30": "Pacific/Marquesas", "+3:30": "Asia/Tehran", "+4:30": "Asia/Kabul", "+5:30": "Asia/Kolkata",
    "+5:45": "Asia/Kathmandu", "+6:30": "Asia/Yangon", "+8:45": "Australia/Eucla", "+9:30": "Australia/Darwin",
}  # fmt: skip
"""Zones without summer time, for offsets that no zone is named after."""
CITIES = {
    "Europe/Berlin": "germany, deutschland, hamburg, munich, münchen, cologne, köln, frankfurt, frankfurt am main, "
    "stuttgart, düsseldorf, leipzig, dresden, hannover, nürnberg, bremen",
    "Europe/Vienna": "austria, österreich, wien, graz, linz, salzburg, innsbruck",
    "Europe/Zurich": "switzerland, schweiz, zürich, geneva, genf, basel, bern, lausanne",
    "Europe/Rome": "italy, italien, rom, milan, mailand, naples, neapel, turin, florence, florenz, venice, venedig",
    "Europe/Paris": "france, frankreich, lyon, marseille, nice, nizza, straßburg, strasbourg",
    "Europe/Madrid": "spain, spanien, barcelona, sevilla, valencia, mallorca",
    "Europe/Amsterdam": "netherlands, niederlande, rotterdam",
    "Europe/Brussels": "belgium, belgien, brüssel, antwerpen",
    "Europe/Luxembourg": "luxemburg", "Europe/Prague": "prag", "Europe/Warsaw": "warschau, krakau, krakow, danzig",
    "Europe/Copenhagen": "kopenhagen", "Europe/Athens": "athen", "Europe/Bucharest": "bukarest",
    "Europe/Belgrade": "belgrad", "Europe/Lisbon": "lissabon, porto", "Europe/Kiev": "kiew",
    "Europe/Moscow": "moskau, saint petersburg, st petersburg",
    "Europe/London": "england, großbritannien, manchester, edinburgh",
    "Asia/Tokyo": "tokio, osaka", "Asia/Shanghai": "peking, beijing", "Asia/Singapore": "singapur",
    "Asia/Kolkata": "india, indien, delhi, neu delhi, new delhi, mumbai, bangalore", "Asia/Tehran": "teheran",
    "Asia/Baghdad": "bagdad", "Asia/Damascus": "damaskus", "Asia/Tbilisi": "tiflis", "Asia/Yerevan": "jerewan",
    "Africa/Cairo": "kairo", "Africa/Johannesburg": "kapstadt, cape town", "America/Havana": "havanna",
    "America/New_York": "boston, washington, miami, philadelphia, atlanta", "America/Chicago": "houston, dallas",
    "America/Los_Angeles": "san francisco, seattle, san diego", "America/Sao_Paulo": "rio de janeiro",
    "America/Toronto": "ottawa",
}  # fmt: skip
"""What people call places, in English and German, that are in the zone of another city or have another name there."""


def fold(words: str) -> str:
    """Returns words in lower case and without accents, as in a zone's name: `são paulo` is `sao_paulo`."""
    letters = unicodedata.normalize("NFKD", "_".join(words.casefold().split()))
    return "".join(one for one in letters if not unicodedata.combining(one))


def _city(words: str) -> str:
    return re.sub("[-._]+", "_", fold(words))


NAMED = {_city(name): zone for zone, names in CITIES.items() for name in names.split(", ")}


def zone_of_city(words: str) -> str | None:
    """Returns the IANA name of the zone of a place in `CITIES` (`Koeln` is Köln); None: it isn't there."""
    name = _city(words)
    return NAMED.get(name) or NAMED.get(re.sub("([aou])e", r"\1", name))


def zone_at(words: str) -> str | None:
    """Returns the IANA name of the zone that words such as `UTC+2` or `gmt -3` mean. Empty: there is none. None: the
    words name no offset."""
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
