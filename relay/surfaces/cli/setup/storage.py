"""Sets up the storage: embedded, a PostgreSQL server, or a Supabase project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from relay.core.program import RELAY
from relay.core.settings import read_variable
from relay.runtime.storage import TWO_WAYS
from relay.surfaces.cli.doctor.live import storage_opens
from relay.surfaces.cli.setup.ask import from_environment, having, hidden, looked, say, settled, tried, typed
from relay.surfaces.cli.setup.sheet import DATABASE, STORAGE, SUPABASE, SUPABASE_KEY, TOKEN, Sheet

DOING = "Opening it"
NOWHERE_ELSE = dict.fromkeys(STORAGE, "")


def kind(sheet: Sheet) -> str:
    """embedded, postgres or supabase."""
    return "supabase" if sheet[SUPABASE] or sheet[SUPABASE_KEY] else "postgres" if sheet[DATABASE] else "embedded"


def check(sheet: Sheet) -> str:
    """Opens it and makes its tables; the embedded one is opened by the first run. Raises `DatabaseError` or
    `SettingsError`.
    """
    settings = sheet.settings(*STORAGE)
    if kind(sheet) == "embedded":
        return f"on this machine, in {settings.data_dir}"
    asyncio.run(storage_opens(settings))
    return "Relay's tables are there"


def ask(sheet: Sheet) -> Sheet:
    """Asks which storage to use, and for its settings, until it opens."""
    if sheet.fixed(*STORAGE):
        return from_environment(sheet, STORAGE, DOING, check)
    data_dir = sheet.settings().data_dir
    for number, choice in enumerate(CHOICES, 1):
        print(f"  {number}  {choice.label.format(data_dir=data_dir)}")
    present = 1 + [choice.kind for choice in CHOICES].index(kind(sheet))
    while True:
        answer = typed(f"1, 2 or 3 [{present}]: ") or str(present)
        if answer not in ("1", "2", "3"):
            continue
        choice = CHOICES[int(answer) - 1]
        new = choice.ask(sheet)
        if new is None:
            continue
        if kind(new) != kind(sheet) and read_variable(TOKEN):
            say(f"What is remembered so far stays where it is. `{RELAY} move`, before you start, copies it.")
        return new


def _embedded(sheet: Sheet) -> Sheet:
    return sheet.having(NOWHERE_ELSE)


def _postgres(sheet: Sheet) -> Sheet | None:
    """Asks for the connection string; an empty line goes back, or keeps the one that is set."""
    kept = sheet[DATABASE] if kind(sheet) == "postgres" else ""
    if kept:
        say("Enter keeps the present address.")
    while True:
        url = hidden("postgresql://user:password@host/database (hidden): ") or kept
        if not url:
            return None
        new = tried(sheet, {**NOWHERE_ELSE, DATABASE: url}, DOING, check)
        if new is not None:
            return new


def _supabase(sheet: Sheet) -> Sheet | None:
    """Asks for the address and the key; an empty line goes back, or keeps what is set."""
    say("Both are in the project under Settings → API.")
    address = typed(f"Its address [{sheet[SUPABASE] or 'https://….supabase.co'}]: ") or sheet[SUPABASE]
    if not address:
        return None
    keeps = "; Enter keeps the present one" if sheet[SUPABASE_KEY] else ""
    key = hidden(f"Its service role (secret) key (hidden{keeps}): ") or sheet[SUPABASE_KEY]
    if not key:
        return None
    database = sheet[DATABASE] if kind(sheet) == "supabase" and address == sheet[SUPABASE] else ""
    return _with_tables(sheet, {SUPABASE: address, SUPABASE_KEY: key, DATABASE: database})


def _with_tables(sheet: Sheet, answers: dict[str, str]) -> Sheet | None:
    """Waits until the project has Relay's tables, made here with its connection string, or by the person."""
    while True:
        new = having(sheet, answers)
        trouble = None if new is None else looked(new, DOING, check)
        if new is not None and trouble is not None and TWO_WAYS in str(trouble):
            say("Paste the connection string here, and they are made now. Or run the SQL first, then press Enter.")
            answers[DATABASE] = hidden("Connection string (hidden; Enter: look again): ")
        elif new is not None and settled(trouble):
            return new
        elif answers[DATABASE]:
            answers[DATABASE] = ""
        else:
            return None


class Choice(NamedTuple):
    """A place, how it is called, and what asks for the rest; that gives None to go back."""

    kind: str
    label: str
    ask: Callable[[Sheet], Sheet | None]


CHOICES = (
    Choice("embedded", "On this machine, in {data_dir}", _embedded),
    Choice("postgres", "In a PostgreSQL of yours (15 or newer)", _postgres),
    Choice("supabase", "In a Supabase project", _supabase),
)
