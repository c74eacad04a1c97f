"""Writes the table of docs/commands.md from the declarations of commands: `python -m scripts.commands`."""

from __future__ import annotations

import re
from pathlib import Path

from relay.surfaces.chat import COMMANDS

PAGE = Path(__file__).parent.parent / "docs/commands.md"
MARKS = re.compile(r"(?s)(<!-- commands: made by `make commands` -->\n).*?(<!-- end of commands -->)")


def table() -> str:
    """Returns a row for each command, by name: where it works, and what it does."""
    rows = ["| in Telegram | in a shell | does |", "| --- | --- | --- |"]
    for command in sorted(COMMANDS.values(), key=lambda command: command.name):
        usage = f" {command.usage}".replace("|", "\\|") if command.usage else ""
        chat = f"`/{command.name}{usage}`" if "chat" in command.surfaces else ""
        shell = f"`relay {command.name}`" if "cli" in command.surfaces else ""
        rows.append(f"| {chat} | {shell} | {command.help}{' (admins)' if command.admin else ''} |")
    return "\n".join(rows) + "\n"


def written(page: str) -> str:
    """Returns the page with a new table."""
    return MARKS.sub(lambda found: found[1] + table() + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
