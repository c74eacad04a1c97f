"""Sets up the storage: embedded, a PostgreSQL server, or a Supabase project."""

from __future__ import annotations

import asyncio

from relay.core.program import RELAY
from relay.core.settings import read_variable
from relay.runtime.storage import TWO_WAYS
from relay.surfaces.cli.doctor.live import storage_opens
from relay.surfaces.cli.setup.ask import (
    accept,
    add_answers,
    pick,
    read_hidden,
    read_line,
    run_check,
    say,
    show_choices,
    try_answers,
    use_environment,
)
from relay.surfaces.cli.setup.sheet import DATABASE, STORAGE, SUPABASE, SUPABASE_KEY, TOKEN, Sheet

DOING = "Opening it"
NOWHERE_ELSE = dict.fromkeys(STORAGE, "")


def kind(sheet: Sheet) -> str:
    """Returns embedded, postgres or supabase."""
    return "supabase" if sheet[SUPABASE] or sheet[SUPABASE_KEY] else "postgres" if sheet[DATABASE] else "embedded"


def check(sheet: Sheet) -> str:
    """Opens the storage and creates its tables; the first run does that for the embedded one. Raises `DatabaseError`
    or `SettingsError`."""
    settings = sheet.settings(*STORAGE)
    if kind(sheet) == "embedded":
        return f"on this machine, in {settings.data_dir}"
    asyncio.run(storage_opens(settings))
    return "Relay's tables exist"


def ask(sheet: Sheet) -> Sheet:
    """Asks which storage to use, and for its settings, until it opens."""
    if sheet.is_fixed(*STORAGE):
        return use_environment(sheet, STORAGE, DOING, check)
    data_dir = sheet.settings().data_dir
    show_choices((f"On this machine, in {data_dir}", "In your own PostgreSQL (15 or newer)", "In a Supabase project"))
    present = ("embedded", "postgres", "supabase").index(kind(sheet))
    ask_for = (lambda sheet: sheet.with_answers(NOWHERE_ELSE), _ask_postgres, _ask_supabase)
    while True:
        new = ask_for[pick("", present)](sheet)
        if new is not None:
            break
    if kind(new) != kind(sheet) and read_variable(TOKEN):
        say(f"Existing memories stay where they are. To copy them, run `{RELAY} move` before you start Relay.")
    return new


def _ask_postgres(sheet: Sheet) -> Sheet | None:
    """Asks for the connection string; an empty line goes back, or keeps the present one."""
    kept = sheet[DATABASE] if kind(sheet) == "postgres" else ""
    if kept:
        say("Press Enter to keep the current address.")
    while True:
        url = read_hidden("postgresql://user:password@host/database (hidden): ") or kept
        if not url:
            return None
        new = try_answers(sheet, {**NOWHERE_ELSE, DATABASE: url}, DOING, check)
        if new is not None:
            return new


def _ask_supabase(sheet: Sheet) -> Sheet | None:
    """Asks for the address and the key; an empty line goes back, or keeps the present one."""
    say("You find both in the project under Settings → API.")
    address = read_line(f"The project's address [{sheet[SUPABASE] or 'https://….supabase.co'}]: ") or sheet[SUPABASE]
    if not address:
        return None
    keeps = "; press Enter to keep the current one" if sheet[SUPABASE_KEY] else ""
    key = read_hidden(f"The service role (secret) key (hidden{keeps}): ") or sheet[SUPABASE_KEY]
    if not key:
        return None
    database = sheet[DATABASE] if kind(sheet) == "supabase" and address == sheet[SUPABASE] else ""
    return _wait_for_tables(sheet, {SUPABASE: address, SUPABASE_KEY: key, DATABASE: database})


def _wait_for_tables(sheet: Sheet, answers: dict[str, str]) -> Sheet | None:
    """Waits until the project has Relay's tables, created here with its connection string or by the person."""
    while True:
        new = add_answers(sheet, answers)
        trouble = None if new is None else run_check(new, DOING, check)
        if new is not None and trouble is not None and TWO_WAYS in str(trouble):
            say("Paste the connection string to create them now. Or run the SQL yourself, then press Enter.")
            answers[DATABASE] = read_hidden("Connection string (hidden; press Enter to check again): ")
        elif new is not None and accept(trouble):
            return new
        elif answers[DATABASE]:
            answers[DATABASE] = ""
        else:
            return None
