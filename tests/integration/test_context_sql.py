"""Tests the calculations of the session library: marker thresholds, sizes, distances, settings."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.integration.conftest import Sql

THRESHOLDS = [
    ("aggressive", 30, 10, "0.80"), ("aggressive", 30, 5, "0.65"), ("moderate", 15, 10, "0.45"),
    ("light", 5, 7, "0.135"),
    ("aggressive", 30, 1, "0.53"), ("aggressive", 50, 10, "1.00"), ("light", 5, 1, "0.105"),
    ("moderate", 10, 1, "0.31"),
    ("moderate", 10, 10, "0.40"), ("aggressive", 25, 10, "0.75"), ("aggressive", 16, 1, "0.516"),
    ("aggressive", 30, 99, "0.80"), ("aggressive", 30, 0, "0.53"), ("minimal", 5, 7, "0.135"),
]  # fmt: skip
SURVIVES = [
    (0.80, "aggressive", 30, 10, True), (0.80, "aggressive", 30, 5, True), (0.25, "moderate", 15, 10, False),
    (0.50, "light", 5, 7, True), (1.00, "aggressive", 100, 10, True), (0.80, "aggressive", 50, 10, False),
    (0.50, "aggressive", 30, 5, False),
]  # fmt: skip


@pytest.mark.parametrize(("level", "ratio", "distance", "threshold"), THRESHOLDS)
async def test_marker_thresholds_are_exact(sql: Sql, level: str, ratio: int, distance: int, threshold: str) -> None:
    [(found,)] = await sql("select relay.keepit_threshold(%s, %s, %s)", level, ratio, distance)
    assert found == Decimal(threshold)


@pytest.mark.parametrize(("weight", "level", "ratio", "distance", "survives"), SURVIVES)
async def test_a_marker_survives_according_to_its_weight_and_the_threshold(
    sql: Sql, weight: float, level: str, ratio: int, distance: int, survives: bool
) -> None:
    [(found,)] = await sql(
        "select relay.keepit_survives(%s::numeric, relay.keepit_threshold(%s, %s, %s))",
        str(weight), level, ratio, distance,
    )  # fmt: skip
    assert found is survives


async def test_each_compression_ratio_has_a_level(sql: Sql) -> None:
    [(levels,)] = await sql(
        "select array(select relay.compression_level(n) from unnest(array[2, 5, 6, 15, 16, 100]) n)"
    )
    assert levels == ["light", "light", "moderate", "moderate", "aggressive", "aggressive"]


async def test_a_changed_setting_leaves_the_others(sql: Sql) -> None:
    [(space,)] = await sql("insert into relay.space (kind, owner_id) values ('private', 77) returning id")
    await sql(
        "insert into relay.context_setting values (%s, %s::jsonb)", space, '{"keepitDecay": {"maxSessionDistance": 20}}'
    )
    [(found,)] = await sql("select relay.context_settings(%s)", space)
    assert found["keepitDecay"]["maxSessionDistance"] == 20
    assert found["keepitDecay"]["pinnedWeight"] == 1
    assert found["defaults"]["compressionPreset"] == "standard"
