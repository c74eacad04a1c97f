"""What stands beside the code says the same as the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from relay.settings import Settings, load
from scripts.commands import table, written

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = ROOT / ".env.example"
REQUIREMENTS = ("requirements.txt", "requirements-build.txt", "requirements-dev.txt")


def shown(value: Any) -> str:
    """A default as people write it into .env; a directory that depends on the platform is left empty."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, str | int) else ""


def defaults() -> list[tuple[str, str]]:
    """Every setting of settings.py with its default, in its order."""
    return [(str(field.alias), shown(field.default)) for field in Settings.model_fields.values()]


def pinned(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))


def test_the_example_file_has_every_setting_with_its_default_in_order() -> None:
    lines = EXAMPLE.read_text("utf-8").splitlines()
    assert [match.groups() for line in lines if (match := re.match(r"#?([A-Z][A-Z_]+)=(.*)$", line))] == defaults()


def test_every_setting_in_the_example_file_is_explained() -> None:
    for paragraph in EXAMPLE.read_text("utf-8").split("\n\n")[1:]:
        assert paragraph.startswith("# "), f"no explanation above: {paragraph}"


def test_the_example_file_changes_nothing_when_it_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, _ in defaults():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    without = load()
    everything = re.sub(r"^#([A-Z_]+=)", r"\1", EXAMPLE.read_text("utf-8"), flags=re.MULTILINE)
    for text in (EXAMPLE.read_text("utf-8"), everything):
        (tmp_path / ".env").write_text(text, "utf-8")
        assert load() == without


def test_the_readme_has_every_setting_with_its_default_in_order() -> None:
    table = README.split("## Settings")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([A-Z_]+)` \| (?:`(.*?)`)? ?\| ", table, re.MULTILINE)
    assert rows == defaults()


def test_the_readmes_commands_are_as_they_are_declared() -> None:
    assert table() in README
    assert written(README) == README, "run `make commands`"


def test_the_readmes_first_page_fits_on_a_screen() -> None:
    first_page = README.split("\n## ")[0]
    assert "make run" in first_page
    assert len(first_page.splitlines()) <= 35


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "deploy/README.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text("utf-8")):
            assert target.startswith("https://") or (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_are_pinned_with_hashes_and_name_no_place(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"--(?!hash=)\w|(?<![\w.-])/|[A-Z]:\\", text), "an option or a path"
    packages = re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE))
    for package in packages:
        assert re.match(r"[a-z0-9-]+==\S+", package)
        assert "--hash=sha256:" in package


def test_requirements_agree_and_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    run, build, dev = (pinned(name) for name in REQUIREMENTS)
    assert run.items() <= dev.items()
    assert build.items() <= dev.items()
    asked = project["project"]["dependencies"] + project["dependency-groups"]["build"]
    assert {re.match(r"[a-z0-9-]+", line)[0] for line in asked} <= set(run) | set(build)  # type: ignore[index]
    assert project["build-system"]["requires"] == project["dependency-groups"]["build"]


def test_the_change_log_begins_with_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", log, re.MULTILINE)[1] == version  # type: ignore[index]
