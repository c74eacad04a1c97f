"""A space's settings of contexts, in the format of the product's document. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from relay.core.errors import CommandRefused, OutOfRange, WrongArgument
from relay.core.frozen import adapter_of, frozen
from relay.memory.contexts.settings import Model

Preset = Literal["gentle", "standard", "aggressive"]
Share = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[int, Field(ge=1, le=3650)]
WORDS = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


def _require_ascending(base: Base) -> Base:
    if not base.light <= base.moderate <= base.aggressive:
        raise ValueError("should ascend from light to aggressive, such as 0.1, 0.3, 0.5")
    return base


@frozen
class Storage:
    """How many versions are kept."""

    size: Annotated[str, Field(alias="maxCacheSize", pattern="^[1-9]([0-9]{0,8} ?(kB|MB|GB)|[0-9]{0,5} ?TB)$")] = "1GB"
    retention: Annotated[
        Literal["all"] | Annotated[int, Field(ge=1, le=1000)] | Annotated[str, Field(pattern="^[1-9][0-9]{0,3}d$")],
        Field(alias="compressionRetention"),
    ] = "all"
    """all, how many of each session's newest versions are kept, or how old they may get: 30d."""


@frozen
class Defaults:
    """How versions are made unless somebody chooses otherwise, and what is registered."""

    preset: Annotated[Preset, Field(alias="compressionPreset")] = "standard"
    decay: Annotated[bool, Field(alias="keepitDecayEnabled")] = True
    """Off: all markers survive."""
    register: Annotated[bool, Field(alias="autoRegisterSessions")] = False
    model: Model = "small"


@frozen
class Base:
    """The least weight that survives at each level, before ratio and distance."""

    light: Share = 0.1
    moderate: Share = 0.3
    aggressive: Share = 0.5


@frozen
class Decay:
    """Which markers survive."""

    base: Annotated[Base, AfterValidator(_require_ascending), Field(alias="compressionBase")] = field(
        default_factory=Base
    )
    distance: Annotated[int, Field(alias="maxSessionDistance", ge=1, le=100)] = 10
    pinned: Annotated[float, Field(alias="pinnedWeight", ge=0.5, le=1)] = 1.0
    """A marker with at least this weight always survives."""


@frozen
class Shown:
    """How pages and chats show sessions."""

    view: Annotated[Literal["timeline", "list"], Field(alias="defaultView")] = "timeline"
    tokens: Annotated[bool, Field(alias="showTokenEstimates")] = True
    confirm: Annotated[bool, Field(alias="confirmDestructiveActions")] = True


@frozen
class AutoDecay:
    """Versions that the night makes and prunes as sessions get older."""

    enabled: bool = False
    schedule: Literal["daily", "weekly", "on-access"] = "daily"
    create_after: Annotated[Days, Field(alias="createAfterDays")] = 7
    create: Annotated[Preset, Field(alias="createPreset")] = "standard"
    aggressive_after: Annotated[Days, Field(alias="aggressiveAfterDays")] = 30
    aggressive: Annotated[Preset, Field(alias="aggressivePreset")] = "aggressive"
    prune_after: Annotated[Days, Field(alias="pruneIntermediateAfterDays")] = 60


@frozen(kw_only=True)
class ContextSettings:
    """All settings of a space."""

    version: str = "1.0.0"
    storage: Storage = field(default_factory=Storage)
    defaults: Defaults = field(default_factory=Defaults)
    decay: Annotated[Decay, Field(alias="keepitDecay")] = field(default_factory=Decay)
    ui: Shown = field(default_factory=Shown)
    auto_decay: Annotated[AutoDecay, Field(alias="autoDecay")] = field(default_factory=AutoDecay)

    def as_json(self) -> dict[str, Any]:
        """Returns the document."""
        return dict(adapter_of(ContextSettings).dump_python(self, by_alias=True, mode="json"))

    def values(self) -> dict[str, object]:
        """Returns each value by its path in the document: `storage.maxCacheSize`."""
        return dict(_leaves(self.as_json(), ""))

    def path_of(self, name: str) -> str:
        """Returns the path of a setting, given the path or the end of it; `autoDecay` is its switch. Raises
        `CommandRefused` if there is no such setting."""
        paths = [path for path in self.values() if path != "version"]
        wanted = name.strip().lower()
        found = [path for path in paths if f".{path}".lower().endswith((f".{wanted}", f".{wanted}.enabled"))]
        if len(found) != 1:
            raise WrongArgument(f"There is no setting “{name[:40]}”. There are: {', '.join(paths)}.")
        return found[0]


def read_document(given: Mapping[str, Any]) -> ContextSettings:
    """Returns the settings of a document, with defaults for what is missing. Raises `CommandRefused`, which says what
    is wrong."""
    try:
        document = json.dumps(given, ensure_ascii=False).encode(errors="replace")
        return adapter_of(ContextSettings).validate_json(document, strict=True)  # type: ignore[no-any-return]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part in _NAMES)
        raise OutOfRange(f"{_CALLED.get(where, where)} {_MEANT.get(where) or _sentence(first)}") from None


def valid_settings(given: object) -> dict[str, Any]:
    """Returns the known and valid settings of a document, in its format."""
    kept: dict[str, Any] = {}
    for section, defaults in ContextSettings().as_json().items():
        values = given.get(section) if isinstance(given, dict) else None
        if not (isinstance(defaults, dict) and isinstance(values, dict)):
            continue
        kept[section] = {}
        for name in (one for one in defaults if one in values):
            with suppress(CommandRefused):
                read = read_document({section: {**kept[section], name: values[name]}})
                kept[section][name] = read.as_json()[section][name]
    return kept


def change_for(settings: ContextSettings, name: str, value: str) -> dict[str, Any]:
    """Returns the change that sets one value: {section: {name: value}}. `name`: as for `path_of`. Raises
    `CommandRefused` if there is no such setting, or it can't have this value."""
    path = settings.path_of(name)
    given: Any = _parse(value.strip(), settings.values()[path])
    for part in reversed(path.split(".")):
        given = {part: given}
    return changes_of(settings, given)


def changes_of(settings: ContextSettings, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the change that a part of the document makes: {section: {name: value}}. Raises `OutOfRange` for an
    unknown name or an invalid value."""
    document = settings.as_json()
    changed = read_document(_merge(document, given, "")).as_json()
    return {
        section: {name: changed[section][name] for name in values}
        for section, values in given.items()
        if section != "version"
    }


def _merge(document: Mapping[str, Any], given: Mapping[str, Any], path: str) -> dict[str, Any]:
    merged = dict(document)
    for name, value in given.items():
        if name not in document:
            raise OutOfRange(f"There is no setting “{path}{name[:40]}”.")
        if isinstance(document[name], dict) != isinstance(value, dict):
            raise OutOfRange(f"{path}{name} has the wrong shape.")
        if isinstance(value, dict):
            merged[name] = _merge(document[name], value, f"{path}{name}.")
        else:
            merged[name] = int(value) if isinstance(value, float) and value.is_integer() else value
    return merged


def _parse(value: str, before: object) -> object:
    """Returns a typed value converted to the type of the value that it replaces; unchanged if it has no such form."""
    if isinstance(before, bool):
        return WORDS.get(value.lower(), value)
    if value.isdecimal():
        return int(value)
    try:
        return float(value) if isinstance(before, float) else value
    except ValueError:
        return value


def _leaves(document: Mapping[str, Any], before: str) -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _sentence(error: Mapping[str, Any]) -> str:
    if error["type"].startswith("bool"):
        return "should be on or off."
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{message.split(',')[0] if error['type'].endswith('parsing') else message}."


_CALLED = {
    "storage.maxCacheSize": "The storage limit",
    "storage.compressionRetention": "The versions to keep",
    "keepitDecay.compressionBase": "The lowest weights",
    "keepitDecay.maxSessionDistance": "The number of sessions",
    "autoDecay.createAfterDays": "The days until the first version",
    "autoDecay.aggressiveAfterDays": "The days until the shorter one",
    "autoDecay.pruneIntermediateAfterDays": "The days until others are pruned",
}
"""What people read who type a value on the page of settings. Other values are chosen there, and can't be wrong."""
_MEANT = {
    "storage.maxCacheSize": "should be a size such as 500MB or 1GB.",
    "storage.compressionRetention": "should be all, a number for each session, such as 5, or a number of days, "
    "such as 30d.",
}
_NAMES = {part for path in ContextSettings().values() for part in path.split(".")}
