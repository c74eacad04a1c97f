"""The web app's files: vendored files match the manifest, nothing is inline, and the app stays small."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from relay.surfaces.http.files import SERVED, STATIC, read_served

MANIFEST = json.loads((STATIC / "lib/manifest.json").read_text("utf-8"))
MAX_COMPRESSED = 80 * 1024
MAX_LINES = 300
SOURCES = sorted(file for file in STATIC.rglob("*.*") if "lib" not in file.relative_to(STATIC).parts)


@pytest.mark.parametrize("entry", MANIFEST, ids=[entry["file"] for entry in MANIFEST])
def test_each_vendored_file_matches_the_manifest(entry: dict[str, object]) -> None:
    assert hashlib.sha256((STATIC / "lib" / str(entry["file"])).read_bytes()).hexdigest() == entry["sha256"]
    assert str(entry["source"]).startswith("https://registry.npmjs.org/")
    assert str(entry["version"]) in str(entry["source"])
    assert all((STATIC / "lib/licenses" / name).stat().st_size > 500 for name in entry["licenses"])


def test_the_manifest_lists_all_vendored_files() -> None:
    there = {file.name for file in (STATIC / "lib").iterdir() if file.is_file()}
    assert there == {entry["file"] for entry in MANIFEST} | {"manifest.json"}


def test_the_compressed_app_stays_small() -> None:
    served = [file for file in STATIC.rglob("*.*") if file.suffix in SERVED]
    assert sum(len(gzip.compress(read_served(file))) for file in served) < MAX_COMPRESSED


@pytest.mark.parametrize("file", SOURCES, ids=[str(file.relative_to(STATIC)) for file in SOURCES])
def test_no_file_uses_another_site_or_inserts_text_as_html(file: Path) -> None:
    text = file.read_text("utf-8")
    code = re.sub(r"^\s*(//|/\*|\*).*$", "", text, flags=re.MULTILINE)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg|t\.me/)", code)
    assert len(text.splitlines()) <= MAX_LINES


def test_no_script_looks_behind() -> None:
    """Safari before 16.4 can't read a module with such an expression, so its pages would stay empty."""
    assert not [file for file in STATIC.rglob("*.js") if re.search(r"\(\?<[=!]", file.read_text("utf-8"))]


def test_no_template_text_looks_like_a_comment() -> None:
    for file in SOURCES:
        inside = re.findall(r"`[^`]*`", file.read_text("utf-8")) if file.suffix == ".js" else []
        assert not [text for text in inside if re.search(r"^ *(//|/\*)", text, re.MULTILINE)], file


def test_weights_of_letters_are_those_that_fonts_have() -> None:
    """Browsers disagree about the others: Firefox shows 520 as bold."""
    styles = (STATIC / "app.css").read_text("utf-8")
    assert set(re.findall(r"font-weight: ([^;]+)", styles)) <= {"500", "600", "700"}


def test_the_page_has_no_inline_script_or_style() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def test_every_route_has_its_own_module() -> None:
    names = re.findall(r'name: "(\w+)"', (STATIC / "routes.js").read_text("utf-8"))
    assert len(names) == len(set(names)) >= 11
    assert all((STATIC / f"pages/{name}.js").exists() for name in names)
