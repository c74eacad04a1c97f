"""The settings of a version in a button's data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from relay.core.errors import CommandRefused
from relay.core.frozen import frozen
from relay.core.text import parse_number
from relay.memory.contexts.settings import CompressionSettings, KeepitMode, Level, Method, Model, Preset, read_settings

PRESETS: dict[str, Preset] = {"g": "gentle", "s": "standard", "a": "aggressive"}
LEVELS: tuple[Level, ...] = get_args(Level)
KEEPITS: tuple[KeepitMode, ...] = get_args(KeepitMode)
MODELS: tuple[Model, ...] = get_args(Model)
METHODS: tuple[Method, ...] = get_args(Method)


@frozen
class Draft:
    """The settings that the buttons of /compress change."""

    preset: Preset | None = "standard"
    """None: uniform, with this ratio and level."""
    ratio: int = 10
    level: Level | None = None
    skip: int = 0
    keepit: KeepitMode = "decay"
    model: Model = "small"
    method: Method = "model"
    source: int = 0
    """The version to start from; 0: the messages."""

    def settings(self) -> CompressionSettings:
        """Returns the settings. Raises `CommandRefused` for forged ones."""
        given: dict[str, object] = {"skipFirstMessages": self.skip, "keepitMode": self.keepit, "model": self.model}
        given |= {"method": self.method}
        if self.preset:
            return read_settings(given | {"mode": "tiered", "tierPreset": self.preset})
        uniform = given | {"mode": "uniform", "compactionRatio": self.ratio}
        return read_settings(uniform | ({"aggressiveness": self.level} if self.level else {}))

    def encode(self) -> str:
        """Returns the part of a button's data, such as s.0.d.s.m.0 or 30a.0.d.s.m.0."""
        shape = self.preset[0] if self.preset else f"{self.ratio}{self.level[0] if self.level else ''}"
        return f"{shape}.{self.skip}.{self.keepit[0]}.{self.model[0]}.{self.method[0]}.{self.source}"

    @classmethod
    def decode(cls, text: str) -> Draft | None:
        """Parses the part of a button's data; None if it is invalid."""
        parts = text.split(".")
        if len(parts) != 6:
            return None
        shape, skip, keepit, model, method, source = parts
        try:
            draft = cls(
                preset=PRESETS.get(shape),
                ratio=10 if shape in PRESETS else int(shape.rstrip("lma")),
                level=None if shape in PRESETS or shape[-1].isdecimal() else _pick(LEVELS, shape[-1]),
                skip=int(skip),
                keepit=_pick(KEEPITS, keepit),
                model=_pick(MODELS, model),
                method=_pick(METHODS, method),
                source=parse_number(source) or 0,
            )
            draft.settings()
        except (ValueError, StopIteration, CommandRefused):
            return None
        return draft


def _pick(choices: tuple[Any, ...], letter: str) -> Any:
    return next(choice for choice in choices if choice[0] == letter)


def draft_of(settings: Mapping[str, Any], source_id: int | None) -> Draft:
    """Returns a draft with these settings. Custom tiers become the standard ones."""
    one = read_settings(settings)
    preset = one.preset if one.preset != "custom" else "standard"
    return Draft(
        preset=preset if one.mode == "tiered" else None, ratio=one.ratio, level=one.level, skip=one.skip_first,
        keepit=one.keepit, model=one.model, method=one.method, source=source_id or 0,
    )  # fmt: skip
