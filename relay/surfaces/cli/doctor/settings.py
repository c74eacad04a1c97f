"""The settings: which are wrong, missing or misspelt, and who may use the bot."""

from __future__ import annotations

import difflib
import io
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.core.settings import Settings, require
from relay.core.text import pluralize
from relay.memory.rows.operations import WorkState
from relay.surfaces.cli.doctor.finding import Finding, of_error, ok, skipped, warning
from relay.surfaces.cli.doctor.machine import shorten

FILE = Path(".env")
NAMES = tuple(str(field.alias) for field in Settings.model_fields.values())
OTHERS = ("RELAY_POSTGRES_PASSWORD",)
"""Settings of the compose files in `deploy`, which read the same file."""
ALIKE = 0.8
"""How similar a name must be to a setting to be taken for a misspelling (difflib's ratio)."""


def settings(given: Settings, wrong: Mapping[str, str]) -> list[Finding]:
    """Lists settings that are wrong or missing."""
    found = [of_error("settings", sentence, "Correct it in .env or in the environment.") for sentence in wrong.values()]
    if ".env" not in wrong:
        for name in ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY"):
            try:
                if name not in wrong:
                    require(given, name)
            except SettingsError as error:
                found.append(of_error("settings", error))
    return found or [ok("settings", f"{len(given.model_fields_set)} set, the others have their defaults")]


def file(given: Settings) -> list[Finding]:
    """Checks the file `.env`: it exists, other users can't read it (a group may, as in the service), and it has no
    unknown names or invalid lines."""
    try:
        mode = FILE.stat().st_mode
        text = FILE.read_text("utf-8-sig")
    except FileNotFoundError:
        return [*find_unknown({}), _no_file(given)]
    except (OSError, UnicodeDecodeError):
        return [skipped(".env", "not checked: it can't be read")]
    found = []
    if sys.platform != "win32" and mode & (stat.S_IWGRP | stat.S_IRWXO):
        found.append(
            warning(".env", "other users of this machine can read or change it, and its keys", "chmod g-w,o= .env")
        )
    values = dotenv_values(FILE, encoding="utf-8-sig")
    found += [*find_invalid_lines(text), *find_unknown(values), *_find_overridden(values)]
    return found or [ok(".env", shorten(Path.cwd() / FILE))]


def _no_file(given: Settings) -> Finding:
    """Allows settings from the environment only, as in a container."""
    here = shorten(Path.cwd())
    if given.telegram_bot_token:
        return skipped(".env", f"none in {here}; using the environment")
    return warning(
        ".env", f"none in {here}", f"Start Relay in the directory of your .env, or create one with `{RELAY} setup`."
    )


def people(given: Settings, work: WorkState | None) -> Finding:
    """Checks who may use the bot. `work`: the numbers of people in the database; None if it was not read."""
    admins = len(given.admins) + (work.admins if work else 0)
    users = len(given.users) + (work.users if work else 0)
    if admins:
        return ok("people", f"{pluralize(admins, 'admin')}, {pluralize(users, 'other person', 'other people')}")
    if work is None:
        return skipped("people", "RELAY_ADMINS is empty, and the database was not read")
    said = "the bot has no admin yet" if users else "nobody may use the bot yet"
    return warning("people", said, f"Open the link that `{RELAY} run` prints when it starts, or set RELAY_ADMINS.")


def find_ignored_settings() -> list[Finding]:
    """Finds unknown settings in the environment and in `.env`, and invalid lines in `.env`."""
    try:
        text = FILE.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return find_unknown({})
    return [*find_invalid_lines(text), *find_unknown(dotenv_values(FILE, encoding="utf-8-sig"))]


def find_invalid_lines(text: str) -> list[Finding]:
    """Finds lines of a `.env` that are neither settings nor comments, which python-dotenv ignores."""
    invalid = number_invalid_lines(text)
    if not invalid:
        return []
    said = f"line {', '.join(map(str, invalid))} of .env is not a setting"
    return [warning(".env", said, "A line is NAME=value, or a comment that starts with #.")]


def number_invalid_lines(text: str) -> list[int]:
    """Returns the numbers of the invalid lines of a `.env`. The parser adds blank lines to the line after them."""
    invalid = [line.original for line in parse_stream(io.StringIO(text)) if line.error]
    leads = [one.string[: len(one.string) - len(one.string.lstrip())] for one in invalid]
    return [one.line + lead.count("\n") for one, lead in zip(invalid, leads, strict=True)]


def find_unknown(values: Mapping[str, str | None]) -> list[Finding]:
    """Finds unknown names: all that begin with RELAY_, and names in the file that resemble a setting."""
    ours = {name for name in os.environ if name.upper().startswith("RELAY_")}
    found = []
    for name in sorted(set(values) | ours):
        alike = difflib.get_close_matches(name.upper(), NAMES, 1, ALIKE)
        if name.upper() in (*NAMES, *OTHERS) or not (alike or name.upper().startswith("RELAY_")):
            continue
        place = "in .env" if name in values else "in the environment"
        fix = f"Did you mean {alike[0]}?" if alike else "Remove it; .env.example lists all settings."
        found.append(warning("settings", f"{name} {place} is not a setting of this version", fix))
    return found


def _find_overridden(values: Mapping[str, str | None]) -> list[Finding]:
    """Finds settings of the file that the environment overrides."""
    before = [n for n in NAMES if values.get(n) and os.environ.get(n) and os.environ[n] != values[n]]
    if not before:
        return []
    said = f"the environment has other values, which take precedence: {', '.join(before)}"
    return [warning(".env", said, f"unset {' '.join(before)} (in the shell or service that starts Relay)")]
