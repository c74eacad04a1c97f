"""The page about Relay's dependencies agrees with the pinned packages."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/dependencies.md").read_text("utf-8")
PERMISSIVE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU",
    "PSF-2.0", "Zlib",
}  # fmt: skip
UNMODIFIED = {
    "psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only", "psycopg-pool": "LGPL-3.0-only",
    "python-telegram-bot": "LGPL-3.0-only", "edge-tts": "LGPL-3.0-only", "certifi": "MPL-2.0",
}  # fmt: skip
"""Packages used unmodified, under a licence that asks for changes to be published."""

NAMED = {
    "PIL": "pillow", "dotenv": "python-dotenv", "piper": "piper-tts", "telegram": "python-telegram-bot",
    "whisper": "openai-whisper", "psycopg_pool": "psycopg", "dateutil": "python-dateutil",
    "pydantic_core": "pydantic",
}  # fmt: skip
"""Packages imported under another name; psycopg's pool and pydantic's core come with them."""
WITH_AN_ENGINE = {"huggingface_hub", "numpy", "torch"}
"""Packages whose values a speech engine or embedder exchanges; the engine determines their version."""


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def pinned(name: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==", (ROOT / name).read_text("utf-8"), re.MULTILINE))


OWN, OTHERS = rows("What Relay requires itself"), rows("What these require")


def test_the_page_lists_each_pinned_package_once_and_no_other() -> None:
    names = [row[0] for row in [*OWN, *OTHERS]]
    assert sorted(names) == sorted(pinned("requirements.txt"))


def test_direct_dependencies_are_listed_separately() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    names = {re.split(r"[\[<>=; ]", one)[0] for one in asked}
    assert {row[0] for row in OWN} == names


def test_everything_that_relay_imports_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {re.split(r"[\[<>=; ]", one)[0] for one in asked}
    missing = {name for name in imported() if NAMED.get(name, name.replace("_", "-")) not in names}
    assert missing == WITH_AN_ENGINE


def imported() -> set[str]:
    """The third-party packages that Relay's modules import, anywhere in them."""
    found = set[str]()
    for path in (ROOT / "relay").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found.update(one.name.partition(".")[0] for one in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
    return found - sys.stdlib_module_names - {"relay"}


def test_every_row_is_complete() -> None:
    for name, why, keeper, licence, weight, wheels in [*OWN, *OTHERS]:
        assert why, name
        assert keeper, name
        assert licence, name
        assert re.fullmatch(r"(< )?[0-9]+\.[0-9]|–", weight), name
        assert wheels in ("any", "x86-64, arm64"), name


def test_licences_are_permissive_or_the_package_is_used_unmodified() -> None:
    for name, _, _, licence, *_ in [*OWN, *OTHERS]:
        terms = set(re.split(r" (?:AND|OR) ", licence))
        assert terms <= PERMISSIVE or licence == UNMODIFIED.get(name), name


def test_gpl_packages_are_only_in_extras_that_say_so() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {row[0].strip("`") for row in rows("Extras")} == set(extras)
    assert not pinned("requirements.txt") & {"piper-tts", "av"}
    for name, brings in extras.items():
        row = next(row for row in rows("Extras") if row[0] == f"`{name}`")
        if any(one.startswith(("av", "piper-tts")) for one in brings):
            assert "GPL" in row[2] or "as above" in row[2]
