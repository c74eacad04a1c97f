"""Text that RELAY_REDACT's file matches gets into no event; a wrong line is named; no pattern blocks the bot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay.core.errors import SettingsError
from relay.core.redaction import redact
from relay.core.redaction.patterns import MARK, OwnPattern, load, remove_matches


@pytest.fixture
def also() -> Iterator[None]:
    yield
    redact.use_patterns(())


def written(folder: Path, text: str) -> Path:
    path = folder / "redact.txt"
    path.write_text(text, "utf-8")
    return path


def test_matching_text_is_removed_and_the_rest_stays(tmp_path: Path, also: None) -> None:
    path = written(tmp_path, "# customers\nK-\\d{3}\n\n(?i)project\\s+falcon\n")
    redact.use_patterns(load(path))
    assert (
        redact.redact("K-123 asks about Project  Falcon, K-12 does not") == f"{MARK} asks about {MARK}, K-12 does not"
    )
    value = {"text": "K-123", "caption": "4111 1111 1111 1111", "from": {"first_name": "Ada"}}
    assert redact.redact_value(value) == {"text": MARK, "caption": MARK, "from": {"first_name": "Ada"}}
    redact.use_patterns(())
    assert redact.redact_value(value) == value | {"caption": MARK}


def test_without_a_file_there_are_no_patterns() -> None:
    assert load(None) == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fine\n(unclosed\n", "line 2 of .* is not a regular expression"),
        ("fine\n\n# x\na*\n", "line 4 of .* also matches the empty text"),
        ("a\n" * 201, "has 201 patterns; the limit is 200"),
        ("x" * 70_000, "too large for a list"),
    ],
)
def test_an_invalid_pattern_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        load(written(tmp_path, text))


def test_an_unreadable_pattern_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"RELAY_REDACT: .*none\.txt cannot be read: No such file"):
        load(tmp_path / "none.txt")
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(tmp_path / "latin")


def test_a_pattern_that_takes_too_long_redacts_the_whole_text(tmp_path: Path) -> None:
    patterns: tuple[OwnPattern, ...] = load(written(tmp_path, "(\\w+\\s?)+[!?]$\nfine"))
    began = time.monotonic()
    assert remove_matches("ab" * 2000 + "!!x", patterns) == MARK
    assert time.monotonic() - began < 10
