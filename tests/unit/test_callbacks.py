"""Callback data of buttons: each kind is distinct, fits Telegram and round-trips; any other data is no button."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.surfaces.chat import BUTTONS
from relay.surfaces.chat.callbacks import CALLBACKS, MAX_BYTES, Callback, decode, encode
from relay.surfaces.chat.contexts.compress import KEEPITS, LEVELS, METHODS, MODELS, Draft
from relay.surfaces.chat.memory_views import CHOSEN, LAST_PAGE, HistoryView, View
from relay.surfaces.chat.session.settings import choose_flag
from relay.surfaces.chat.session.voice import choose_voice
from relay.surfaces.chat.turn_buttons import CODES
from tests.strategies import examples

IDS = st.integers(0, 10**15)
"""Ids of rows and people, up to the largest."""
SMALL = {"percent": st.integers(0, 100)}
"""Fields of numbers that are never large."""
VIEWS = st.builds(View, st.sampled_from([*CHOSEN, "u1001"]), st.integers(1, LAST_PAGE)) | st.builds(
    lambda text, page: replace(View.search(text), page=page), st.text(max_size=60), st.integers(1, LAST_PAGE)
)
"""Pages of memory lists."""
DRAFTS = st.builds(
    Draft,
    preset=st.sampled_from(["gentle", "standard", "aggressive"]),
    skip=st.integers(0, 10_000),
    keepit=st.sampled_from(KEEPITS),
    model=st.sampled_from(MODELS),
    method=st.sampled_from(METHODS),
    source=IDS,
) | st.builds(Draft, preset=st.none(), ratio=st.integers(2, 100), level=st.sampled_from([None, *LEVELS]), source=IDS)
"""Settings of versions."""


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values for a callback's field."""
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if hasattr(kind, "examples"):
        found: st.SearchStrategy[Any] = st.sampled_from(kind.examples())
        return found
    known: dict[Any, st.SearchStrategy[Any]] = {int: IDS, bool: st.booleans(), str: st.sampled_from(["", "a", "all"])}
    known |= {Draft: DRAFTS}
    known |= {View: VIEWS, HistoryView: st.builds(HistoryView, st.booleans(), st.integers(1, LAST_PAGE))}
    return known[kind]


pressed = st.sampled_from(sorted(CALLBACKS)).flatmap(
    lambda code: st.builds(
        CALLBACKS[code],
        **{
            name: SMALL[name] if name in SMALL else values(kind)
            for name, kind in get_type_hints(CALLBACKS[code]).items()
            if name != "code"
        },
    )
)


@given(pressed)
@examples(300)
def test_callback_data_fits_telegram_and_round_trips(one: Callback) -> None:
    data = encode(one)
    assert len(data.encode()) <= MAX_BYTES
    assert decode(data) == one


@given(
    st.text(max_size=64) | st.builds(lambda code, rest: f"{code}:{rest}", st.sampled_from(sorted(CALLBACKS)), st.text())
)
@examples(300)
def test_any_other_data_is_no_button_or_round_trips(data: str) -> None:
    one = decode(data)
    assert one is None or decode(encode(one)) == one


def test_each_callback_has_a_handler_and_a_unique_code() -> None:
    assert set(CALLBACKS) <= {*BUTTONS, *CODES}, "buttons of a running turn are handled by the turn"
    assert all(CALLBACKS[code].code == code for code in CALLBACKS)
    with pytest.raises(ValueError, match="two buttons"):
        type("Other", (Callback,), {}, code="vv")


def test_callback_data_in_existing_chats_keeps_its_meaning() -> None:
    assert decode("vv:7:auto") == choose_voice(7, "auto")
    assert encode(choose_flag(7, "sound", False)) == "ts:7:sound:0"
    for odd in ("vv:7", "vv:7:auto:1", "vv:-7:auto", "vv:7:loud", "vv:٧:auto", "ts:7:sound:2", "", "vv", ":"):
        assert decode(odd) is None
