"""What setup suggests as the time zone, and what Enter keeps."""

from __future__ import annotations

import pytest

from relay.surfaces.cli.setup import zone
from relay.surfaces.cli.setup.sheet import ZONE, Sheet


@pytest.mark.parametrize(
    ("stored", "shown"),
    [("Etc/GMT-2", "UTC+2"), ("Etc/GMT+9", "UTC−9"), ("EST", "EST"), ("Europe/Berlin", "Europe/Berlin")],
)
def test_enter_keeps_the_time_zone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stored: str, shown: str
) -> None:
    monkeypatch.delenv(ZONE, raising=False)
    monkeypatch.setattr("builtins.input", lambda: "")
    assert zone.ask(Sheet({ZONE: stored}))[ZONE] == stored
    said = capsys.readouterr().out
    assert f"[{shown}]" in said
    assert f"{shown}, where it is" in said
