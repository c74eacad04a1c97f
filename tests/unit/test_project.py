"""The documents, example files and requirements agree with the code."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from relay.core.settings import Settings, load
from scripts import commands
from scripts import settings as settings_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS, SETTINGS = (ROOT / "docs/commands.md").read_text("utf-8"), (ROOT / "docs/settings.md").read_text("utf-8")
PAGES = tuple(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md", "CHANGELOG.md", *PAGES)
EXAMPLE = ROOT / ".env.example"
REQUIREMENTS = ("requirements.txt", "requirements-build.txt", "requirements-dev.txt")


def shown(value: Any) -> str:
    """A default as people write it into .env; empty for a directory that depends on the platform."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, str | int) else ""


def defaults() -> list[tuple[str, str]]:
    """Every setting in settings.py with its default, in order."""
    return [(str(field.alias), shown(field.default)) for field in Settings.model_fields.values()]


def pinned(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))


def test_the_example_file_lists_every_setting_with_its_default() -> None:
    lines = EXAMPLE.read_text("utf-8").splitlines()
    assert [match.groups() for line in lines if (match := re.match(r"#?([A-Z][A-Z_]+)=(.*)$", line))] == defaults()


def test_every_setting_in_the_example_file_is_explained_above_it() -> None:
    explained = settings_table.explained(EXAMPLE.read_text("utf-8"))
    assert [(name, default) for name, default, _ in explained] == defaults()
    assert all(sentence and len(sentence) <= 90 for _, _, sentence in explained)


def test_using_the_example_file_changes_no_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, _ in defaults():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    without = load()
    everything = re.sub(r"^#([A-Z_]+=)", r"\1", EXAMPLE.read_text("utf-8"), flags=re.MULTILINE)
    for text in (EXAMPLE.read_text("utf-8"), everything):
        (tmp_path / ".env").write_text(text, "utf-8")
        assert load() == without


def test_the_settings_table_agrees_with_the_example_file() -> None:
    assert settings_table.table() in SETTINGS, "run `make commands`"
    assert settings_table.written(SETTINGS) == SETTINGS, "run `make commands`"


def test_the_command_table_agrees_with_the_declared_commands() -> None:
    assert commands.table() in COMMANDS
    assert commands.written(COMMANDS) == COMMANDS, "run `make commands`"


def test_the_first_page_of_the_readme_fits_on_a_screen() -> None:
    first_page = README.split("\n## ")[0]
    assert "git clone" in first_page
    assert "make run" in first_page
    assert "make test" in first_page
    assert "docs/conversation.png" in first_page
    assert "docs/app/" in first_page
    assert len(first_page.splitlines()) <= 35


def anchors(document: Path) -> set[str]:
    """The anchors that a link may name: the headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_between_documents_have_existing_targets(name: str) -> None:
    document = ROOT / name
    for target, anchor in re.findall(r"(?:\]\(|src=\")([^)#\"]*)#?([^)\"]*)", document.read_text("utf-8")):
        if target.startswith("https://"):
            continue
        place = document.parent / target if target else document
        assert place.exists(), f"{name}: {target}"
        assert not anchor or anchor in anchors(place), f"{name}: #{anchor}"


def test_documents_name_only_existing_settings() -> None:
    known = {name for name, _ in defaults()} | {"RELAY_POSTGRES_PASSWORD"}
    documents = [name for name in DOCUMENTS if name != "CHANGELOG.md"]
    for name in (*documents, "deploy/compose.yaml", "deploy/relay.service", "deploy/Dockerfile"):
        named = set(re.findall(r"\b(?:RELAY|TELEGRAM|ANTHROPIC|SUPABASE)_[A-Z_]+\b", (ROOT / name).read_text("utf-8")))
        assert named <= known, name


def test_the_example_file_and_the_code_name_existing_documents() -> None:
    texts = [one.read_text("utf-8") for one in (EXAMPLE, *(ROOT / "relay").rglob("*.py"))]
    named = {name for text in texts for name in re.findall(r"\b(?:docs|deploy)/[\w./]+\.md\b|\bREADME:", text)}
    assert len(named) > 2
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_are_pinned_with_hashes_and_without_paths(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"--(?!hash=)\w|(?<![\w.-])/|[A-Z]:\\", text), "an option or a path"
    packages = re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE))
    for package in packages:
        assert re.match(r"[a-z0-9-]+(\[[^]]*\])?==\S+", package)
        assert "--hash=sha256:" in package


def test_requirements_agree_and_contain_all_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    run, build, dev = (pinned(name) for name in REQUIREMENTS)
    assert run.items() <= dev.items()
    assert build.items() <= dev.items()
    asked = project["project"]["dependencies"] + project["dependency-groups"]["build"]
    assert {re.match(r"[a-z0-9-]+", line)[0] for line in asked} <= set(run) | set(build)  # type: ignore[index]
    assert project["build-system"]["requires"] == project["dependency-groups"]["build"]


def test_extras_that_packages_require_are_pinned_too() -> None:
    """With hashes, pip treats `httpx[http2]>=0.26` as unpinned if the file says `httpx==0.28.1` and there is a newer
    release."""
    lines = (ROOT / "requirements-dev.txt").read_text("utf-8")
    extras = dict(re.findall(r"^([a-z0-9-]+)\[([^]]*)\]==", lines, re.MULTILINE))
    for name in pinned("requirements-dev.txt"):
        try:
            asked = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # for another system
            continue
        for one in asked:
            if one.extras and (one.marker is None or one.marker.evaluate({"extra": ""})):
                assert one.extras <= set(extras.get(canonicalize_name(one.name), "").replace(" ", "").split(",")), one


def test_the_change_log_begins_with_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", log, re.MULTILINE)[1] == version  # type: ignore[index]
