"""`relay move`: opens both sides, checks that no Relay is running on them, and shows progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from relay.archive.transfer import HINT, ComparedTable, MoveRefused, Transfer
from relay.clients.embedded.instance import in_use
from relay.core.errors import DatabaseUnavailable, SchemaError, SettingsError
from relay.core.program import RELAY
from relay.core.setting_checks import connection_string
from relay.core.settings import Settings, read_variable
from relay.core.text import pluralize
from relay.memory import migrations
from relay.runtime.storage import is_embedded, open_storage, place, prepare_schema
from relay.surfaces.cli.progress import plain, show_progress, tell_if_interrupted

KEY = "SUPABASE_SERVICE_ROLE_KEY"


async def move(
    settings: Settings, to: str, key_env: str = KEY, data_dir: Path | None = None, replace: bool = False
) -> list[ComparedTable]:
    """Copies everything from the configured database into the one that `to` names, and prints how to use that.

    Raises `SettingsError` for a target that makes no sense, and what `Transfer.run` raises.
    """
    target = target_settings(settings, to, key_env, data_dir)
    if place(settings) == place(target):
        raise SettingsError(f"The data is already there: {place(target)}.")
    if is_embedded(settings) and not (settings.data_dir / "postgres").exists():
        raise MoveRefused(f"There is nothing to move: no database under {settings.data_dir}.")
    for folder in {settings.data_dir, *([target.data_dir] if is_embedded(target) else [])}:
        if in_use(folder):
            raise MoveRefused(f"Relay is running on {folder}. Stop it first, and keep it stopped.")
    if target.supabase_url and not settings.supabase_url:  # the settings have a key but no project: it is the target's
        settings = settings.model_copy(update={"supabase_service_role_key": ""})
    console = plain()
    console.print(f"From {place(settings)}\n  to {place(target)}")
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(open_storage(settings))
        if not migrations.check(await migrations.present(here.database), migrations.load()):
            raise SchemaError(f"The source's schema is not up to date. Run `{RELAY} db migrate` first.")
        with _name_options(key_env, data_dir):
            there = await stack.enter_async_context(open_storage(target))
            await prepare_schema(there, target, wait=False)
        with tell_if_interrupted(HINT), show_progress(console) as watcher:
            work = Transfer(here.database, there.database, watcher)
            compared = await work.run(replace)
    _report(console, compared, time.monotonic() - began, "Compared" if work.finished else "Moved")
    console.print(advice(settings, target, key_env))
    return compared


@contextmanager
def _name_options(key_env: str, data_dir: Path | None) -> Iterator[None]:
    """Names the options of the target, instead of settings, in errors about it."""
    options = {"DATABASE_URL": "--to", "SUPABASE_URL": "--to", KEY: key_env}
    options |= {"RELAY_DATA_DIR": "--data-dir"} if data_dir else {}
    try:
        yield
    except (DatabaseUnavailable, SettingsError) as error:
        said = str(error)
        for setting, option in options.items():
            said = said.replace(setting, option)
        raise type(error)(said) from None


def target_settings(settings: Settings, to: str, key_env: str, data_dir: Path | None) -> Settings:
    """Returns the settings with which Relay would use the target."""
    nowhere = {"database_url": "", "supabase_url": "", "supabase_service_role_key": ""}
    if data_dir is not None and to != "embedded":
        raise SettingsError("--data-dir is for `--to embedded` only.")
    if to == "embedded":
        return settings.model_copy(update=nowhere | {"data_dir": data_dir or settings.data_dir})
    if to.startswith(("postgresql://", "postgres://")):
        return settings.model_copy(update=nowhere | {"database_url": _connection(to)})
    if not to.startswith(("https://", "http://")):
        raise SettingsError(
            "--to must be a connection string (postgresql://…), a Supabase project (https://….supabase.co), or the "
            "word embedded."
        )
    if key_env == KEY and settings.supabase_url and settings.supabase_url != to.rstrip("/"):
        raise SettingsError(f"{KEY} is the source's key. Name the variable with the target's: --key-env NAME.")
    key = settings.supabase_service_role_key if key_env == KEY else read_variable(key_env)
    if not key:
        raise SettingsError(
            f"{key_env} is not set: put the project's service role key into it (or name another "
            "variable with --key-env)."
        )
    return settings.model_copy(update=nowhere | {"supabase_url": to.rstrip("/"), "supabase_service_role_key": key})


def _connection(to: str) -> str:
    try:
        return connection_string(to)
    except ValueError as error:
        raise SettingsError(f"--to {error}.") from None


def _report(console: Console, compared: list[ComparedTable], seconds: float, done: str) -> None:
    for table in compared:
        console.print(f"  {table.table:<20}{pluralize(table.rows, 'row'):>18}, the same on both sides")
    rows = sum(table.rows for table in compared)
    console.print(
        f"{done} {rows:,} rows in {len(compared)} tables, in {seconds:.1f} s. The row counts and checksums "
        "of all tables match. The source was not changed."
    )


def advice(settings: Settings, target: Settings, key_env: str) -> str:
    """Returns the settings that make Relay use the target."""
    lines = []
    if target.supabase_url:
        lines += [f"SUPABASE_URL={target.supabase_url}", f"{KEY}=… (what {key_env} holds)"]
        lines += ["DATABASE_URL="] if settings.database_url else []
    else:
        lines += ["SUPABASE_URL=", f"{KEY}="] if settings.supabase_url else []
        if target.database_url:
            lines += [f"DATABASE_URL={_mask(target.database_url)}"]
        elif settings.database_url:
            lines += ["DATABASE_URL="]
        folder = target.data_dir.expanduser().absolute()
        if is_embedded(target) and folder != settings.data_dir.expanduser().absolute():
            lines += [f"RELAY_DATA_DIR={folder}"]
    said = "\n".join(f"  {line}" for line in lines)
    return f"To use it, put this into .env, and run the bot only there:\n{said}"


def _mask(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return (
        parts._replace(netloc=f"{parts.username or ''}:…@{parts.netloc.rpartition('@')[2]}").geturl()
        + "  (with its password)"
    )
