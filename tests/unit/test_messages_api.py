"""A model's stream gives the same events however the network splits it; refusals are read whatever they say."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.clients.anthropic.messages_api import Refused, events, parse_refusal
from tests.strategies import examples

TOLD: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"model": "m"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Grüße 🌍\u2028\n\r\x0b next"}},
    {"type": "message_stop"},
]


def wire(end: str) -> bytes:
    """A stream as servers write it: comments, pings, an event without a name, and an unfinished one."""
    said = "".join(f"event: {one['type']}{end}data: {json.dumps(one, ensure_ascii=False)}{end}{end}" for one in TOLD)
    beside = f': a comment{end}event: ping{end}data: {{"type": "ping"}}{end}{end}data: {{"type": "nameless"}}{end}{end}'
    return (
        f'{beside}{said}id: 7{end}retry: 1{end}{end}event: message_stop{end}data: {{"type": "unended"}}{end}'.encode()
    )


async def heard(stream: bytes, cuts: list[int]) -> list[dict[str, Any]]:
    """The events of a stream that arrives in pieces."""
    places = sorted({0, len(stream), *(cut % len(stream) for cut in cuts)})

    async def pieces() -> AsyncIterator[bytes]:
        for start, stop in pairwise(places):
            yield stream[start:stop]

    return [event async for event in events(pieces())]


@examples(50)
@given(st.lists(st.integers(min_value=0), max_size=30), st.sampled_from(["\n", "\r\n"]))
async def test_a_stream_gives_the_same_events_however_it_is_split(cuts: list[int], end: str) -> None:
    assert await heard(wire(end), cuts) == TOLD


async def test_the_data_of_an_event_may_have_several_lines() -> None:
    assert await heard(b'event: a\ndata: {"x":\ndata:  1}\n\n', []) == [{"x": 1}]


async def test_an_error_event_in_the_stream_is_a_refusal() -> None:
    stream = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}\n\n'
    with pytest.raises(Refused) as told:
        await heard(stream + wire("\n"), [])
    assert (told.value.status, told.value.kind, told.value.message) == (200, "overloaded_error", "busy")


async def test_data_that_is_not_json_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        await heard(b"event: a\ndata: <html>\n\n", [])


@pytest.mark.parametrize("told", [b"", b"<html>", b"[]", b'{"error": 1}', b'{"error": {}}', b"\xff", b"[" * 50_000])
def test_an_error_page_of_a_proxy_is_a_refusal_without_text(told: bytes) -> None:
    assert parse_refusal(502, told, "3") == Refused(502, "", "", "3")
