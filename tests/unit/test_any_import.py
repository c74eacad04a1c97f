"""A file given as an export is accepted, or refused with a sentence; no other file is touched."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.archive.export import line
from relay.archive.export_file import LINES, ImportRefused
from relay.archive.imports import CheckedExport, check
from tests.strategies import altered, damaged, examples, json_of

Json = dict[str, Any]
AT = "2026-01-01T00:00:00+00:00"
EXPORT: list[Json] = [
    {"schema": "relay-export/2", "relay": "1.2.3",
     "space": {"kind": "private", "owner_id": 7, "chat_id": None}},
    {"type": "choices", "choices": {"zone": "Europe/Berlin"}},
    {"type": "thread", "id": 1, "chat_id": 7, "topic_id": 0, "kind": "private"},
    {"type": "session", "id": 2, "thread": 1, "started_at": AT},
    {"type": "message", "id": 3, "thread": 1, "session": 2, "role": "user", "text": "Hi", "blocks": [], "versions": [],
     "created_at": AT},
    {"type": "summary", "id": 4, "thread": 1, "session": 2, "text": "Hi.", "from_message": 3, "through_message": 3},
    {"type": "memory", "id": 5, "kind": "fact", "content": "Ada skis.", "source": 3, "evidence": [3], "changes": []},
    {"type": "end", "rows": 7},
]  # fmt: skip
WHOLE = b"".join(map(line, EXPORT))
ABOVE = tempfile.TemporaryDirectory()
NAMES = ["../../x", "/etc/x", "..\\x", "x/../../" + LINES, LINES.upper(), "a" * 300]


def zipped(content: bytes, packing: int = zipfile.ZIP_DEFLATED, *others: str) -> bytes:
    """An archive with an export and files with other names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as archive:
        for name in others:
            archive.writestr(name, b"x")
        archive.writestr(LINES, content)
    return packed.getvalue()


def told(content: bytes, name: str) -> CheckedExport | None:
    """The result of the check, or None if it refuses the file. Asserts that it makes and changes no file."""
    above = Path(ABOVE.name)
    path = above / "folder" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    said = ""
    try:
        return check(path)
    except ImportRefused as refused:
        said = str(refused)
        return None
    finally:
        assert not said or (said.startswith(str(path)) and said.endswith("."))
        assert [one for one in above.rglob("*") if one.is_file()] == [path]
        assert path.read_bytes() == content
        path.unlink()


lines = st.one_of(
    altered(EXPORT),
    st.lists(st.sampled_from(EXPORT) | json_of("type", "id", "thread", "session", "rows", "space"), max_size=5),
).map(lambda rows: b"".join(json.dumps(row).encode() + b"\n" for row in (rows if isinstance(rows, list) else [rows])))
archives = st.builds(
    lambda content, packing, others: zipped(content, packing, *others),
    st.just(WHOLE) | lines | damaged(WHOLE),
    st.sampled_from([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
)  # fmt: skip


def test_a_whole_export_is_accepted() -> None:
    for found in (told(WHOLE, "x.jsonl"), told(zipped(WHOLE), "x.zip"), told(zipped(WHOLE, 0, *NAMES[:2]), "x.zip")):
        assert found is not None
        assert (found.space.owner_id, found.cited) == (7, {3})


@examples(100)
@given(damaged(WHOLE) | lines | st.binary(max_size=100))
@example(b"[" * 100_000 + b"\n")
@example(WHOLE.replace(b'"id": 1', b'"id": ' + b"9" * 5000))
def test_any_lines_are_an_export_or_refused(content: bytes) -> None:
    found = told(content, "x.jsonl")
    assert found is None or found.space.owner_id or found.space.chat_id


@examples(100)
@given(archives | archives.flatmap(lambda one: damaged(one, 3)))
def test_any_archive_is_an_export_or_refused(content: bytes) -> None:
    found = told(content, "x.zip")
    assert found is None or found.space.owner_id or found.space.chat_id


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 7))
def test_an_export_that_is_cut_off_is_refused(cut: int) -> None:
    assert told(WHOLE[:cut], "x.jsonl") is None
    assert told(zipped(WHOLE[:cut]), "x.zip") is None
