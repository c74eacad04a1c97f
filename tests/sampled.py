"""Parameters of which `make test` tries some, and `make test-all` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], every: int, offset: int = 0) -> list[Any]:
    """Returns the values. All but each `every`th are marked as slow: the others cover the same. Tuples are several
    parameters."""
    return [
        value
        if place % every == offset
        else pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow("the same with other values")
        )
        for place, value in enumerate(values)
    ]
