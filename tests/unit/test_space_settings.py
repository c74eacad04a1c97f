"""A space's settings of contexts: their defaults, their possible values, and what is said about other values."""

from __future__ import annotations

import pytest

from relay.core.errors import CommandRefused
from relay.memory.contexts.space_settings import ContextSettings, change_for, read_document

DEFAULTS = {
    "version": "1.0.0",
    "storage.maxCacheSize": "1GB",
    "storage.compressionRetention": "all",
    "defaults.compressionPreset": "standard",
    "defaults.keepitDecayEnabled": True,
    "defaults.autoRegisterSessions": False,
    "defaults.model": "small",
    "keepitDecay.compressionBase.light": 0.1,
    "keepitDecay.compressionBase.moderate": 0.3,
    "keepitDecay.compressionBase.aggressive": 0.5,
    "keepitDecay.maxSessionDistance": 10,
    "keepitDecay.pinnedWeight": 1.0,
    "ui.defaultView": "timeline",
    "ui.showTokenEstimates": True,
    "ui.confirmDestructiveActions": True,
    "autoDecay.enabled": False,
    "autoDecay.schedule": "daily",
    "autoDecay.createAfterDays": 7,
    "autoDecay.createPreset": "standard",
    "autoDecay.aggressiveAfterDays": 30,
    "autoDecay.aggressivePreset": "aggressive",
    "autoDecay.pruneIntermediateAfterDays": 60,
}
"""The defaults in the product's document, except for the model."""


def test_the_defaults_agree_with_the_specification() -> None:
    assert ContextSettings().values() == DEFAULTS
    assert read_document(ContextSettings().as_json()) == ContextSettings()
    assert read_document({}) == ContextSettings()


@pytest.mark.parametrize(
    ("name", "value", "change"),
    [
        ("storage.maxCacheSize", "500 MB", {"storage": {"maxCacheSize": "500 MB"}}),
        ("compressionretention", "5", {"storage": {"compressionRetention": 5}}),
        ("compressionRetention", "30d", {"storage": {"compressionRetention": "30d"}}),
        ("compressionPreset", "gentle", {"defaults": {"compressionPreset": "gentle"}}),
        ("keepitDecayEnabled", "off", {"defaults": {"keepitDecayEnabled": False}}),
        ("autoRegisterSessions", "true", {"defaults": {"autoRegisterSessions": True}}),
        ("defaults.model", "big", {"defaults": {"model": "big"}}),
        ("light", "0.05", {"keepitDecay": {"compressionBase": {"light": 0.05, "moderate": 0.3, "aggressive": 0.5}}}),
        ("maxSessionDistance", "100", {"keepitDecay": {"maxSessionDistance": 100}}),
        ("pinnedWeight", "0.9", {"keepitDecay": {"pinnedWeight": 0.9}}),
        ("defaultView", "list", {"ui": {"defaultView": "list"}}),
        ("confirmDestructiveActions", "no", {"ui": {"confirmDestructiveActions": False}}),
        ("autoDecay", "on", {"autoDecay": {"enabled": True}}),
        ("schedule", "on-access", {"autoDecay": {"schedule": "on-access"}}),
        ("createAfterDays", "14", {"autoDecay": {"createAfterDays": 14}}),
    ],
)
def test_a_setting_is_named_by_its_path_or_the_end_of_it(name: str, value: str, change: dict[str, object]) -> None:
    assert change_for(ContextSettings(), name, value) == change


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("maxCacheSize", "lots", "The storage limit should be a size such as 500MB or 1GB."),
        ("compressionRetention", "0", "The versions to keep should be all, a number for each session"),
        ("compressionPreset", "custom", "should be 'gentle', 'standard' or 'aggressive'."),
        ("keepitDecayEnabled", "maybe", "defaults.keepitDecayEnabled should be on or off."),
        ("model", "opus", "defaults.model should be 'small' or 'big'."),
        ("light", "0.4", "The lowest weights should ascend from light to aggressive"),
        ("aggressive", "1.5", "keepitDecay.compressionBase.aggressive should be less than or equal to 1."),
        ("maxSessionDistance", "101", "The number of sessions should be less than or equal to 100."),
        ("maxSessionDistance", "ten", "The number of sessions should be a valid integer."),
        ("pinnedWeight", "0.4", "keepitDecay.pinnedWeight should be greater than or equal to 0.5."),
        ("createAfterDays", "0", "The days until the first version should be greater than or equal to 1."),
        ("version", "2.0.0", "There is no setting “version”. There are: storage.maxCacheSize"),
        ("size", "1GB", "There is no setting “size”."),
    ],
)
def test_an_impossible_value_is_refused_with_a_sentence(name: str, value: str, says: str) -> None:
    with pytest.raises(CommandRefused) as refused:
        change_for(ContextSettings(), name, value)
    assert says in str(refused.value)
