"""`.env` as setup writes it: only the answered settings change, and each value is read back unchanged."""

from __future__ import annotations

import io
import os
from pathlib import Path

import hypothesis
import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from relay.commands.session.settings import zones_named
from relay.core.errors import SettingsError
from relay.surfaces.cli.setup.env_file import example, fill_in, quote, read, write
from relay.surfaces.cli.setup.zone import find_similar

PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z"))) | st.text(r"""a '"\$!{}:-#=%&ß""")


def values(text: str) -> dict[str, str | None]:
    return dotenv_values(stream=io.StringIO(text))


@given(PRINTABLE, PRINTABLE)
@hypothesis.example("pass${HOME}word", "${")
@hypothesis.example("${:-$}{x}", "$${A:-b}'")
def test_any_written_value_is_read_back_unchanged(first: str, second: str) -> None:
    answers = {"DATABASE_URL": first, "RELAY_MODEL": second, "SOMETHING_ELSE": first}
    once = fill_in(example(), answers)
    assert all((values(once).get(name) or "") == value for name, value in answers.items())
    turned = {"DATABASE_URL": second, "RELAY_MODEL": first}
    assert all((values(fill_in(once, turned)).get(name) or "") == value for name, value in turned.items())


def test_a_value_is_quoted_only_if_necessary() -> None:
    url = "postgresql://relay:pass-w_ord@db.example.com:5432/relay?sslmode=require"
    assert quote(url) == url
    assert quote("a b") == "'a b'"
    assert quote("it's") == '"it\'s"'


def test_the_example_file_is_filled_in_place() -> None:
    before = example().splitlines()
    after = fill_in(
        example(), {"TELEGRAM_BOT_TOKEN": "1:abc", "RELAY_TIMEZONE": "UTC", "DATABASE_URL": ""}
    ).splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [
        ("TELEGRAM_BOT_TOKEN=", "TELEGRAM_BOT_TOKEN=1:abc"),
        ("#RELAY_TIMEZONE=", "RELAY_TIMEZONE=UTC"),
    ]


MINE = """# mine
export TELEGRAM_BOT_TOKEN='1:old' # the old one

RELAY_USERS=5,6
#DATABASE_URL=postgresql://kept/for-later
RELAY_MODEL="a
b"
LAST=1"""
THEN = """# mine
export TELEGRAM_BOT_TOKEN=2:new # the old one

RELAY_USERS=5,6
#DATABASE_URL=postgresql://kept/for-later
DATABASE_URL=postgresql://now
RELAY_MODEL=c
LAST=1
RELAY_TIMEZONE=UTC
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_existing_file_keeps_its_lines_comments_and_order(end: str) -> None:
    answers = {
        "TELEGRAM_BOT_TOKEN": "2:new",
        "DATABASE_URL": "postgresql://now",
        "RELAY_MODEL": "c",
        "SUPABASE_URL": "",
    }
    text = fill_in(MINE.replace("\n", end), {**answers, "RELAY_TIMEZONE": "UTC"})
    assert text.replace("\r\n", "\n") == THEN


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_added_setting_stays_when_the_line_before_it_changes(end: str) -> None:
    text = fill_in(
        f"ANTHROPIC_BASE_URL=http://old{end}", {"TELEGRAM_BOT_TOKEN": "1:a", "ANTHROPIC_BASE_URL": "http://new"}
    )
    assert text == "ANTHROPIC_BASE_URL=http://new\nTELEGRAM_BOT_TOKEN=1:a\n"


def test_the_last_of_two_equal_settings_is_changed() -> None:
    assert fill_in("A=1\nA=2\n", {"A": "3"}) == "A=1\nA=3\n"
    assert values(fill_in("A=1\nA=2\n", {"A": ""})) == {"A": ""}


def test_a_written_file_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("A=1\n")
    path.chmod(0o666)
    write(path, "A=2\n")
    assert path.read_text() == "A=2\n"
    assert path.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link"
    link.symlink_to(path)
    write(link, "A=3\n")
    assert link.is_symlink()
    assert path.read_text() == "A=3\n"


def test_a_file_readable_by_its_group_stays_so(tmp_path: Path) -> None:
    """Under systemd root owns the file, and the bot reads it as a member of its group."""
    path = tmp_path / ".env"
    for before, after in ((0o640, 0o640), (0o660, 0o640), (0o400, 0o400), (0o644, 0o600)):
        path.write_text("A=1\n")
        path.chmod(before)
        write(path, "A=2\n")
        assert path.stat().st_mode & 0o777 == after
        path.chmod(0o600)


def test_swapping_the_new_file_for_a_link_changes_no_other_files_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, victim, given = tmp_path / ".env", tmp_path / "victim", list[int]()
    path.write_text("A=1\n")
    victim.touch()

    def swap(changed: str | int, *_: int) -> None:
        (new,) = tmp_path.glob(".*.partial")
        new.unlink()
        new.symlink_to(victim)
        given.append(os.stat(changed).st_ino)

    monkeypatch.setattr(os, "chown", swap)
    monkeypatch.setattr(os, "fchown", swap)
    write(path, "A=2\n")
    assert given
    assert victim.stat().st_ino not in given


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".env"
    path.write_text("A=1\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match=r"cannot be written: No space left on device\.$"):
        write(path, "A=2\n")
    assert [file.name for file in tmp_path.iterdir()] == [".env"]
    assert path.read_text() == "A=1\n"


def test_a_malformed_file_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert read(path) == example()
    path.write_text("A=1\n\nB='open\nC=2\n")
    with pytest.raises(SettingsError, match=r"line 3 is not NAME=value, or has an unclosed quote\.$"):
        read(path)
    path.write_bytes(b"A=\xff\n")
    with pytest.raises(SettingsError, match=r"it is not UTF-8 text\.$"):
        read(path)


def test_a_misspelt_time_zone_finds_similar_ones() -> None:
    assert "Europe/Berlin" in find_similar("Europe/Berln")
    assert "Europe/Lisbon" in find_similar("lisbom")
    assert find_similar("qqqqqq") == []
    assert zones_named("") == []
