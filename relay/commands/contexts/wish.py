"""Reads the words after /compress as the settings of a version. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from relay.core.errors import OutOfRange, WrongArgument
from relay.core.frozen import frozen
from relay.core.text import shorten
from relay.memory.contexts.settings import (
    LEAST_RATIO,
    MOST_RATIO,
    CompressionSettings,
    Level,
    Preset,
    Tier,
    check_tiers,
    level_of,
    read_settings,
)
from relay.memory.rows.contexts.compression import SessionOutline

RATIO = re.compile(r"(\d{1,9}):1")
PRESETS: dict[str, Preset] = {"gentle": "gentle", "standard": "standard", "aggressive": "aggressive"}
LEVELS: dict[str, Level] = {
    "light": "light", "minimal": "light", "moderate": "moderate", "aggressive": "aggressive"
}  # fmt: skip
HOW = "For example: /compress gentle, /compress 30:1 moderate, /compress standard 2 (2 is a session in /sessions)."


@frozen
class Wish:
    """The wanted settings of a version. None: the space's setting is used."""

    preset: Preset | None = None
    ratio: int | None = None
    level: Level | None = None
    session: str = ""
    """The session's number in the list of sessions, or its id; empty: the running session."""
    settings: CompressionSettings | None = None
    """The complete settings, if a button or the shell gives them."""


def read_wish(text: str) -> Wish:
    """Reads the words after the command. Raises `CommandRefused`, which says what is wrong."""
    wish = Wish()
    for word in text.lower().split():
        found = RATIO.fullmatch(word)
        if found and wish.ratio is None and wish.preset is None:
            wish = replace(wish, ratio=check_ratio(int(found[1])))
        elif word in PRESETS and wish.preset is None and wish.ratio is None:
            wish = replace(wish, preset=PRESETS[word])
        elif word in LEVELS and wish.level is None:
            wish = replace(wish, level=LEVELS[word])
        elif re.fullmatch(r"#?\d{1,18}", word) and not wish.session:
            wish = replace(wish, session=word)
        else:
            raise WrongArgument(f"I don't understand “{shorten(word, 30)}” here. {HOW}")
    if wish.level and wish.ratio is None:
        raise WrongArgument(f"“{wish.level}” needs a ratio: /compress 30:1 {wish.level}")
    return wish


def check_ratio(ratio: int) -> int:
    """Returns the ratio. Raises `CommandRefused` if it is out of bounds."""
    if not LEAST_RATIO <= ratio <= MOST_RATIO:
        raise OutOfRange(f"A ratio is between {LEAST_RATIO}:1 and {MOST_RATIO}:1.")
    return ratio


def read_tiers(text: str) -> tuple[Tier, ...]:
    """Reads tiers such as `25=25:1, 100=3:1 light`: the end of each in percent, its ratio, and its level if it is not
    the ratio's own. Raises `CommandRefused`."""
    found = []
    for part in text.split(","):
        said = re.fullmatch(r"\s*(\d{1,3})%?\s*=\s*(\d{1,9}):1(?:\s+(\w+))?\s*", part)
        if said is None or (said[3] and said[3].lower() not in LEVELS):
            raise WrongArgument(
                f"“{shorten(part.strip(), 30)}” isn't a tier. For example: 25=25:1, 75=10:1, 100=3:1 light"
            )
        ratio = check_ratio(int(said[2]))
        found.append(Tier(int(said[1]), ratio, LEVELS[said[3].lower()] if said[3] else level_of(ratio)))
    check_tiers(found)
    return tuple(found)


def settings_for(wish: Wish, outline: SessionOutline) -> CompressionSettings:
    """Returns complete settings: what is wanted, and the space's defaults for the rest."""
    if wish.settings is not None:
        return wish.settings
    keepit: Literal["decay", "preserve-all"] = "decay" if outline.decays else "preserve-all"
    model: Literal["small", "big"] = "big" if outline.model == "big" else "small"
    if wish.ratio is not None:
        return CompressionSettings(mode="uniform", ratio=wish.ratio, level=wish.level, keepit=keepit, model=model)
    preset = wish.preset or PRESETS.get(outline.preset, "standard")
    return CompressionSettings(mode="tiered", preset=preset, keepit=keepit, model=model)


def adjust(
    settings: Mapping[str, Any],
    *,
    skip: int = 0,
    markers: str = "",
    model: str = "",
    distance: int = 0,
    tiers: str = "",
) -> CompressionSettings:
    """Returns settings with the given changes. What is empty stays, except the distance: 0 means the real one. `model`
    none: without a model. `tiers`: see `read_tiers`. Raises `CommandRefused`, which says what is wrong."""
    given = dict(settings) | {"sessionDistance": distance or None}
    if skip:
        given["skipFirstMessages"] = skip
    if markers:
        given["keepitMode"] = markers
    if model:
        given |= {"method": "extract"} if model == "none" else {"model": model}
    if tiers:
        own = [tier.as_json() for tier in read_tiers(tiers)]
        given |= {"mode": "tiered", "tierPreset": "custom", "customTiers": own}
    return read_settings(given)
