"""Writes the README's table of commands from the verbs' declarations: `python -m scripts.commands`."""

from __future__ import annotations

import re
from pathlib import Path

from relay.surfaces.chat import COMMANDS

README = Path(__file__).parent.parent / "README.md"
MARKS = re.compile(r"(?s)(<!-- commands: made by `make commands` -->\n).*?(<!-- end of commands -->)")


def table() -> str:
    """One row for each verb, in the order of their names: its doors, and what it does."""
    rows = ["| in Telegram | in a shell | does |", "| --- | --- | --- |"]
    for verb in sorted(COMMANDS.values(), key=lambda verb: verb.name):
        usage = f" {verb.usage}".replace("|", "\\|") if verb.usage else ""
        chat = f"`/{verb.name}{usage}`" if "chat" in verb.surfaces else ""
        shell = f"`relay {verb.name}`" if "cli" in verb.surfaces else ""
        rows.append(f"| {chat} | {shell} | {verb.help}{' (admins)' if verb.admin else ''} |")
    return "\n".join(rows) + "\n"


def written(readme: str) -> str:
    """The README with its table as the declarations have it."""
    return MARKS.sub(lambda found: found[1] + table() + found[2], readme)


if __name__ == "__main__":
    README.write_text(written(README.read_text("utf-8")), "utf-8")
