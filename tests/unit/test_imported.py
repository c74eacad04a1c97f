"""Messages from exports, which may be written by hand, are made harmless."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.archive.imported import usable
from relay.core.models import Attachment
from relay.media.media_context import choose_files
from relay.media.media_cost import bytes_of, tokens_of
from relay.media.showing import describe_file

FILE = {"kind": "photo", "file_id": "f", "unique_id": "u"}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "words", "untrusted": "forward", "from": "Ben"},
        {"type": "text", "text": "heard", "file": FILE, "heard": {"language": "en"}},
        {"type": "image", "file": FILE, "untrusted": "photo"},
        {"type": "document", "file": FILE, "pages": 3},
    ],
)
def test_messages_that_relay_exported_stay_unchanged(block: dict[str, Any]) -> None:
    row = {"role": "user", "blocks": [block], "versions": [{"text": "x", "blocks": [block]}]}
    assert usable(row) == row


def test_malformed_numbers_of_an_imported_file_are_dropped() -> None:
    odd: dict[str, Any] = {"width": "wide", "height": -3, "pages": "all", "frames": 1.5, "bytes": [], "parts": True}
    file = {**FILE, "width": "wide", "size": "</untrusted>", "name": "a.png", "evil": 1}
    for kind in ("image", "document"):
        block = {"type": kind, "file": file, "untrusted": 'x">', "from": 7, "source": {}, **odd}
        (made,) = usable({"role": "user", "blocks": [block], "versions": []})["blocks"]
        assert made == {"type": kind, "file": {**FILE, "name": "a.png"}, "untrusted": "import"}
        Attachment.from_json(made["file"])
        for one in (block, made):
            assert tokens_of(one) > 0
            assert bytes_of(one) > 0
            assert describe_file(one).endswith("not shown here)")
            assert choose_files([one], [])


def test_imported_answers_stay_unchanged() -> None:
    row = {"role": "assistant", "blocks": [{"role": "assistant", "content": [{"type": "image"}]}], "versions": []}
    assert usable(row) is row


ANYTHING = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "file", "kind", "file_id", "unique_id", "source", "untrusted"]), inner
        )
    ),
)


@given(ANYTHING, ANYTHING)
def test_each_imported_block_has_its_text_or_its_file(blocks: Any, versions: Any) -> None:
    made = usable({"role": "user", "blocks": blocks, "versions": [{"blocks": versions}]})
    for block in [*made["blocks"], *made["versions"][0]["blocks"]]:
        if block["type"] == "text":
            assert isinstance(block["text"], str)
        else:
            assert isinstance(block["file"]["unique_id"], str)
