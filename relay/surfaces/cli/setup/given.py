"""Setup without questions: the answers come from flags or the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from relay.commands.session.settings import zones_named
from relay.core.errors import RelayError, SettingsError
from relay.core.redaction.logs import silence
from relay.core.settings import read_environment, require
from relay.surfaces.cli.setup import model, storage
from relay.surfaces.cli.setup.env_file import fill_in, read, write
from relay.surfaces.cli.setup.interview import QUESTIONS, describe_search
from relay.surfaces.cli.setup.sheet import (
    DATABASE,
    KEY,
    MODEL,
    NAMES,
    SMALL_MODEL,
    STORAGE,
    SUPABASE,
    SUPABASE_KEY,
    TOKEN,
    ZONE,
    Sheet,
)

NEEDS = {"embedded": (), "postgres": (DATABASE,), "supabase": (SUPABASE, SUPABASE_KEY)}
"""What each storage needs."""


def write_given(flags: Mapping[str, str], place: str, checked: bool) -> None:
    """Writes the answers from flags and the environment to `.env`, and prints the settings. Keeps all others.

    `place`: embedded, postgres, supabase, or empty to leave it. Raises `SettingsError` if something is wrong.
    """
    path = Path.cwd() / ".env"
    text = read(path)
    silence()
    zones = zones_named(flags.get(ZONE, ""))
    flags = {**flags, ZONE: zones[0]} if len(zones) == 1 else flags
    answers = {name: flags.get(name, "").strip() or read_environment(name) for name in NAMES}
    for name, value in answers.items():
        if read_environment(name) not in ("", value):
            raise SettingsError(
                f"{name} has another value in the environment, which takes precedence. Remove it there."
            )
    sheet = Sheet().with_answers({name: value for name, value in answers.items() if value})
    if model.is_elsewhere(sheet) and answers[MODEL] and not sheet[SMALL_MODEL]:
        sheet = sheet.with_answers({SMALL_MODEL: answers[MODEL]})
    sheet = _set_place(sheet, place)
    for name, flag in ((TOKEN, "--token"), (KEY, "--key")):
        try:
            require(sheet.settings(*NAMES), name)
        except SettingsError as error:
            raise SettingsError(f"{error} Or pass it with {flag} or in the environment.") from None
    if checked:
        for question in QUESTIONS:
            try:
                print(f"{question.heading}: {question.check(sheet)}.")
            except RelayError as error:
                raise SettingsError(str(error)) from None
        print(describe_search(sheet.settings()))
    write(path, fill_in(text, sheet.answers))
    print(f"Written{'' if checked else ', unchecked'}: {path}")


def _set_place(sheet: Sheet, place: str) -> Sheet:
    """Returns the sheet with only the settings that this storage needs."""
    if not place:
        return sheet
    if place not in NEEDS:
        raise SettingsError("--storage must be embedded, postgres or supabase.")
    missing = [name for name in NEEDS[place] if not sheet[name]]
    if missing:
        raise SettingsError(f"--storage {place} needs {' and '.join(missing)}.")
    kept = STORAGE if place == "supabase" else NEEDS[place]
    sheet = sheet.with_answers({name: "" for name in STORAGE if name not in kept})
    if storage.kind(sheet) != place:
        there = " and ".join(name for name in STORAGE if name not in kept and sheet.is_fixed(name))
        raise SettingsError(f"{there} in the environment takes precedence over --storage {place}. Remove it there.")
    return sheet
