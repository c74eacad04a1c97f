"""The settings: what is wrong in them, what is missing, what is misspelt, and who may use the bot."""

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
from relay.memory.rows.operations import WorkState
from relay.surfaces.cli.doctor.finding import Finding, of_error, ok, skipped, warning
from relay.surfaces.cli.doctor.machine import short

FILE = Path(".env")
NAMES = tuple(str(field.alias) for field in Settings.model_fields.values())
OTHERS = ("RELAY_POSTGRES_PASSWORD",)
"""No settings of Relay's own, but of the compose files under `deploy`, which read the same file."""
ALIKE = 0.8
"""How alike a name must be to one of ours to be taken for a slip (difflib's ratio)."""


def settings(given: Settings, wrong: Mapping[str, str]) -> list[Finding]:
    """Every setting that is wrong or missing; or that all are well."""
    found = [
        of_error("settings", sentence, "Correct it in .env, or where the environment is set.")
        for sentence in wrong.values()
    ]
    if ".env" not in wrong:
        for name in ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY"):
            try:
                if name not in wrong:
                    require(given, name)
            except SettingsError as error:
                found.append(of_error("settings", error))
    return found or [ok("settings", f"{len(given.model_fields_set)} set, the others at their defaults")]


def file(given: Settings) -> list[Finding]:
    """The file `.env`: there, closed to others (a group may read it, as the service's does), and without names or lines
    that mean nothing."""
    try:
        mode = FILE.stat().st_mode
        text = FILE.read_text("utf-8-sig")
    except FileNotFoundError:
        return [*misspelt({}), _no_file(given)]
    except (OSError, UnicodeDecodeError):
        return [skipped(".env", "not looked at: it cannot be read")]
    found = []
    if sys.platform != "win32" and mode & (stat.S_IWGRP | stat.S_IRWXO):
        found.append(warning(".env", "others on this machine can read or change it, keys and all", "chmod g-w,o= .env"))
    unclear = [str(line.original.line) for line in parse_stream(io.StringIO(text)) if line.error]
    if unclear:
        fix = "A line is NAME=value, or a comment that begins with #."
        found.append(warning(".env", f"line {', '.join(unclear)} means nothing", fix))
    values = dotenv_values(FILE, encoding="utf-8-sig")
    found += [*misspelt(values), *_overridden(values)]
    return found or [ok(".env", short(Path.cwd() / FILE))]


def _no_file(given: Settings) -> Finding:
    """Settings may come from the environment alone, as in a container."""
    here = short(Path.cwd())
    if given.telegram_bot_token:
        return skipped(".env", f"none in {here}; the environment is all")
    return warning(".env", f"none in {here}", f"Start Relay where your .env is, or make one with `{RELAY} setup`.")


def people(given: Settings, work: WorkState | None) -> Finding:
    """Who may use the bot. `work`: how many the database names (`relay_examine_work`); None when it was not asked."""
    admins = len(given.admins) + (work.admins if work else 0)
    users = len(given.users) + (work.users if work else 0)
    if admins:
        return ok("people", f"{_count(admins, 'admin')}, {_count(users, 'other person', 'other people')}")
    if work is None:
        return skipped("people", "RELAY_ADMINS names nobody, and the database was not asked")
    said = "nobody runs this bot yet" if users else "nobody may use this bot yet"
    return warning("people", said, f"Start `{RELAY} run` and open the link that it prints, or set RELAY_ADMINS.")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def unknown() -> list[Finding]:
    """Finds unknown settings in the environment and in `.env`."""
    try:
        return misspelt(dotenv_values(FILE, encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return misspelt({})


def misspelt(values: Mapping[str, str | None]) -> list[Finding]:
    """Finds unknown names: all that begin with RELAY_, and names in the file that resemble a setting."""
    ours = {name for name in os.environ if name.upper().startswith("RELAY_")}
    found = []
    for name in sorted(set(values) | ours):
        alike = difflib.get_close_matches(name.upper(), NAMES, 1, ALIKE)
        if name.upper() in (*NAMES, *OTHERS) or not (alike or name.upper().startswith("RELAY_")):
            continue
        place = "in .env" if name in values else "in the environment"
        fix = f"Did you mean {alike[0]}?" if alike else "Take it out; .env.example has all there are."
        found.append(warning("settings", f"{name} {place} is no setting of this version", fix))
    return found


def _overridden(values: Mapping[str, str | None]) -> list[Finding]:
    """Finds settings of the file that the environment overrides."""
    before = [n for n in NAMES if values.get(n) and os.environ.get(n) and os.environ[n] != values[n]]
    if not before:
        return []
    said = f"{', '.join(before)}: the environment has another value, which counts"
    return [warning(".env", said, f"unset {' '.join(before)} (in the shell or service that starts Relay)")]
