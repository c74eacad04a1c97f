"""The settings of a compression: how a version is made. Pure.

Names in JSON are those of the product's documents (`compactionRatio`). Levels follow their formula: a ratio of 2–5 is
light, 6–15 moderate, 16 and more aggressive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from relay.core.errors import OutOfRange
from relay.core.frozen import adapter_of, frozen

Level = Literal["light", "moderate", "aggressive"]
Mode = Literal["uniform", "tiered"]
Preset = Literal["gentle", "standard", "aggressive", "custom"]
KeepitMode = Literal["decay", "preserve-all", "ignore"]
Model = Literal["small", "big"]
Method = Literal["model", "extract"]

LEAST_RATIO, MOST_RATIO = 2, 100
MOST_TIERS = 10


@frozen
class Tier:
    """A stretch of a session's tokens and how it is compressed."""

    end_percent: Annotated[int, Field(alias="endPercent", ge=1, le=100)]
    """Its end in percent of the session's tokens, oldest first."""
    ratio: Annotated[int, Field(alias="compactionRatio", ge=LEAST_RATIO, le=MOST_RATIO)]
    level: Annotated[Level, Field(alias="aggressiveness")]

    def as_json(self) -> dict[str, object]:
        return {"endPercent": self.end_percent, "compactionRatio": self.ratio, "aggressiveness": self.level}


def tiers(*given: tuple[int, int, Level]) -> tuple[Tier, ...]:
    """Returns the tiers of (end, ratio, level)."""
    return tuple(Tier(end, ratio, level) for end, ratio, level in given)


PRESETS: Mapping[Preset, tuple[Tier, ...]] = {
    "gentle": tiers(
        (25, 10, "moderate"), (50, 7, "moderate"), (75, 5, "light"), (90, 4, "light"), (100, 2, "light")
    ),
    "standard": tiers(
        (25, 25, "aggressive"), (50, 15, "aggressive"), (75, 10, "moderate"), (90, 5, "moderate"), (100, 3, "light")
    ),
    "aggressive": tiers(
        (25, 50, "aggressive"), (50, 35, "aggressive"), (75, 20, "aggressive"), (90, 10, "moderate"), (100, 5, "light")
    ),
}  # fmt: skip


@frozen(kw_only=True)
class CompressionSettings:
    """The complete settings of a version."""

    mode: Mode = "tiered"
    preset: Annotated[Preset, Field(alias="tierPreset")] = "standard"
    """For the mode tiered."""
    custom: Annotated[tuple[Tier, ...], Field(alias="customTiers")] = ()
    """The tiers of the preset custom."""
    ratio: Annotated[int, Field(alias="compactionRatio", ge=LEAST_RATIO, le=MOST_RATIO)] = 10
    """For the mode uniform."""
    level: Annotated[Level | None, Field(alias="aggressiveness")] = None
    """For the mode uniform. None: the ratio's own level."""
    model: Model = "small"
    method: Method = "model"
    skip_first: Annotated[int, Field(alias="skipFirstMessages", ge=0, le=10_000)] = 0
    """How many messages at the beginning stay word for word."""
    keepit: Annotated[KeepitMode, Field(alias="keepitMode")] = "decay"
    distance: Annotated[int | None, Field(alias="sessionDistance", ge=1)] = None
    """How many sessions ago it counts as; None: the real distance when it is made."""
    most: Annotated[int | None, Field(alias="maxTokens", ge=1)] = None
    """The share of a composition for which it is made, in tokens: what is longer is cut to sentences."""

    def tiers(self) -> tuple[Tier, ...]:
        """Returns the tiers. A uniform version has one."""
        if self.mode == "uniform":
            return (Tier(100, self.ratio, self.level or level_of(self.ratio)),)
        return self.custom if self.preset == "custom" else PRESETS[self.preset]

    def label(self) -> str:
        """Returns the middle of a version's name: tiered-standard, uniform-aggressive."""
        return f"tiered-{self.preset}" if self.mode == "tiered" else f"uniform-{self.level or level_of(self.ratio)}"

    def as_json(self) -> dict[str, object]:
        """Returns the settings as they are stored and shown: those of the other mode are left out."""
        if self.mode == "uniform":
            shown, unused = replace(self, level=self.level or level_of(self.ratio)), {"preset", "custom"}
        else:
            shown, unused = self, {"ratio", "level"} | ({"custom"} if self.preset != "custom" else set())
        unused |= {"most"} if self.most is None else set()
        return dict(adapter_of(CompressionSettings).dump_python(shown, by_alias=True, mode="json", exclude=unused))


def level_of(ratio: int) -> Level:
    """Returns the level of a ratio. Source: the given decay formula."""
    return "light" if ratio <= 5 else "moderate" if ratio <= 15 else "aggressive"


def read_settings(given: Mapping[str, Any]) -> CompressionSettings:
    """Reads settings in their JSON shape; `minimal` means light. Raises `OutOfRange`, which says what is wrong and what
    would be right."""
    shape = {key: "light" if key == "aggressiveness" and value == "minimal" else value for key, value in given.items()}
    try:
        settings: CompressionSettings = adapter_of(CompressionSettings).validate_python(shape)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise OutOfRange(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
    if settings.mode == "tiered" and settings.preset == "custom":
        check_tiers(settings.custom)
    return settings


def check_tiers(given: Sequence[Tier]) -> None:
    """Raises `OutOfRange` unless tiers ascend and end at 100 percent."""
    ends = [tier.end_percent for tier in given]
    if not 1 <= len(ends) <= MOST_TIERS or ends != sorted(set(ends)) or ends[-1] != 100:
        raise OutOfRange(
            f"Tiers must ascend and end at 100 percent, at most {MOST_TIERS} of them: 25, 50, 75, 90, 100, for example."
        )
