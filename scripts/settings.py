"""Writes the table of docs/settings.md from .env.example: `python -m scripts.settings`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE, EXAMPLE = ROOT / "docs/settings.md", ROOT / ".env.example"
MARKS = re.compile(r"(?s)(<!-- settings: made by `make commands` -->\n).*?(<!-- end of settings -->)")
SETTING = re.compile(r"(?m)((?:^# .*\n)+)#?([A-Z][A-Z_]+)=(.*)$")
"""An explanation, directly followed by a setting with its default."""
NAME = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")


def explained(example: str) -> list[tuple[str, str, str]]:
    """Returns the settings of an example file: name, default, and the first sentence of the explanation."""
    return [
        (name, default, sentence(" ".join(line.removeprefix("# ") for line in comment.splitlines())))
        for comment, name, default in SETTING.findall(example)
    ]


def sentence(text: str) -> str:
    """Returns the first sentence, without its full stop."""
    return re.split(r"\.(?:\s|$)", text, maxsplit=1)[0]


def table() -> str:
    """Returns a row for each setting, in the order of the example file."""
    rows = ["| setting | default | what it is |", "| --- | --- | --- |"]
    for name, default, what in explained(EXAMPLE.read_text("utf-8")):
        shown = f"`{default}` " if default else ""
        rows.append(f"| `{name}` | {shown}| {NAME.sub(lambda found: f'`{found[0]}`', what)} |")
    return "\n".join(rows) + "\n"


def written(page: str) -> str:
    """Returns the page with a new table."""
    return MARKS.sub(lambda found: found[1] + table() + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
