"""Shared by property tests: how many examples they try, and strategies for their inputs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.fragments import FRAGMENTS, MARKDOWN

NIGHTLY = "nightly"
"""The profile of `make fuzz`: 10,000 examples of every property."""
UNHURRIED = "unhurried"
"""The usual profile: examples may take long, as on a loaded machine."""
FEWEST = 4
"""The examples that `make test` always tries, if a test has so many."""
settings.register_profile(UNHURRIED, deadline=None)
settings.register_profile(
    NIGHTLY, max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def examples(number: int) -> Callable[[Any], Any]:
    """Sets how many examples a property test tries: the same ones each time, or many others if the profile says so.
    `make test` tries a third of them."""
    if settings.get_current_profile_name() == NIGHTLY:
        return settings()
    number = number if os.environ.get("RELAY_HEAVY") else max(number // 3, min(number, FEWEST))
    ignored = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=number, deadline=None, derandomize=True, suppress_health_check=ignored)


ODD_TEXT = st.one_of(
    st.text(max_size=20),
    st.text(st.characters(codec=None), max_size=8),
    st.sampled_from(
        ["", " ", "\0", "\ud800", "\udfff\ud800", "\u202e", "a\u0301", "👨‍👩‍👧", "\ufeff", "\u2028", "x" * 5000, "İ",
         "-1", "NaN", "1e400", "9" * 5000, "'; --", "\\u0000", "${x}", "%s", "{}", "[LEARN: odd]", "</said>"]
    ),
)  # fmt: skip
ODD_NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.sampled_from([2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, -(10**400)]),
    st.floats(),
)
ODD = st.none() | st.booleans() | ODD_NUMBERS | ODD_TEXT


def json_of(*keys: str, leaves: st.SearchStrategy[Any] = ODD, most: int = 12) -> st.SearchStrategy[Any]:
    """Any JSON value, with these keys and others. Its numbers and texts include some that JSON cannot carry."""
    named = st.sampled_from(keys) | ODD_TEXT if keys else ODD_TEXT
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(named, inner, max_size=5), max_leaves=most
    )


def nested(depth: int, key: str = "reply_to_message") -> Any:
    """Nested objects."""
    return functools.reduce(lambda inner, _: {key: inner}, range(depth), {"text": "deep"})


@st.composite
def altered(draw: st.DrawFn, value: Any, odd: st.SearchStrategy[Any] = ODD) -> Any:
    """A JSON value in which a few things are missing, doubled or replaced."""
    made = draw(st.just(value))
    for _ in range(draw(st.integers(1, 4))):
        made = draw(_with_one_change(made, odd))
    return made


@st.composite
def _with_one_change(draw: st.DrawFn, value: Any, odd: st.SearchStrategy[Any]) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 3)) == 0:
            return {name: one for name, one in value.items() if name != key}
        return value | {key: draw(_with_one_change(value[key], odd))}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(value) - 1))
        if draw(st.booleans()):
            return [*value, value[at]]
        return [*value[:at], draw(_with_one_change(value[at], odd)), *value[at + 1 :]]
    return draw(odd)


@st.composite
def damaged(draw: st.DrawFn, content: bytes, most: int = 8) -> bytes:
    """A file with bits flipped, bytes changed, parts removed, doubled, moved or inserted, and the end cut off."""
    made = bytearray(content)
    for _ in range(draw(st.integers(0, most))):
        if not made:
            break
        place, length = draw(st.integers(0, len(made) - 1)), draw(st.integers(1, 64))
        match draw(st.sampled_from(["turn", "change", "cut", "double", "move", "insert", "end"])):
            case "turn":
                made[place] ^= 1 << draw(st.integers(0, 7))
            case "change":
                made[place] = draw(st.sampled_from([0, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
            case "cut":
                del made[place : place + length]
            case "double":
                made[place:place] = made[place : place + length]
            case "move":
                to = draw(st.integers(0, len(made) - 1))
                made[to : to + length] = made[place : place + length]
            case "insert":
                made[place:place] = draw(st.binary(max_size=20))
            case "end":
                del made[place:]
    return bytes(made)


markdowns = st.one_of(
    st.text(max_size=300),
    st.text(st.characters(codec=None), max_size=300),
    st.lists(st.sampled_from(MARKDOWN), max_size=80).map("".join),
    st.tuples(st.lists(st.sampled_from(MARKDOWN), max_size=60), st.integers(1, 120)).map(
        lambda x: "".join(x[0]) * x[1]
    ),
)
"""Markdown as a model may write it, whole and broken, of any length."""
replies = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=14).map("".join)
"""Tags, half tags, and the text around them."""
