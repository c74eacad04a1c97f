"""The command line: `relay …`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.core.settings import lacking, load, require, tolerant
from relay.memory import migrations
from relay.surfaces.cli.chat_commands import add_chat_commands
from relay.surfaces.cli.command_list import Commands
from relay.surfaces.cli.memory import memory
from relay.surfaces.cli.shell import choose_loop as _choose_loop
from relay.surfaces.cli.shell import log_as as _logging
from relay.surfaces.cli.shell import ready as _ready
from relay.surfaces.cli.shell import run_work as _run

cli = typer.Typer(
    cls=Commands,
    help="A self-hosted Telegram assistant on Claude that remembers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
database = typer.Typer(cls=Commands, help="The database: migrations and their SQL.", no_args_is_help=True)
cli.add_typer(database, name="db")
cli.add_typer(memory, name="memory")

Offline = Annotated[bool, typer.Option("--offline", help="A stand-in model: look around with no key at all.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@cli.callback()
def everywhere(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show Relay's version.")
    ] = False,
) -> None:
    """A self-hosted Telegram assistant on Claude that remembers."""


@cli.command()
def run() -> None:
    """Run the bot; at a terminal it asks for what is missing first."""
    needed = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
    if lacking(load(), *needed) and sys.stdin.isatty() and sys.stdout.isatty():
        _interview()
        print("Relay starts now; Ctrl-C stops it.", flush=True)
    settings = _ready()
    from relay.surfaces.cli.doctor.settings import unknown

    for found in unknown():
        print(f"relay: {found.said}. {found.fix}", file=sys.stderr, flush=True)
    require(settings, *needed)
    from relay.surfaces.server import serve

    _run(serve.run(settings))


def _interview() -> None:
    from relay.surfaces.cli.setup.interview import interview

    _choose_loop()
    print(f"\nWritten, for your eyes only: {interview()}", flush=True)


def _flag(says: str) -> Any:
    return typer.Option(help=says, show_default=False)


@cli.command("setup")
def set_up(
    non_interactive: Annotated[
        bool, typer.Option("--non-interactive", help="Ask nothing: take the answers from the environment and flags.")
    ] = False,
    token: Annotated[str, _flag("The bot's token: TELEGRAM_BOT_TOKEN.")] = "",
    key: Annotated[str, _flag("The key for Claude: ANTHROPIC_API_KEY.")] = "",
    anthropic_url: Annotated[str, _flag("Another server that speaks its API: ANTHROPIC_BASE_URL.")] = "",
    model: Annotated[str, _flag("The model that answers: RELAY_MODEL.")] = "",
    small_model: Annotated[str, _flag("The one that judges, summarises and titles: RELAY_SMALL_MODEL.")] = "",
    timezone: Annotated[str, _flag("Such as Europe/Berlin: RELAY_TIMEZONE.")] = "",
    storage: Annotated[str, _flag("embedded, postgres or supabase; without it, as it is.")] = "",
    database_url: Annotated[str, _flag("The PostgreSQL's address: DATABASE_URL.")] = "",
    supabase_url: Annotated[str, _flag("The project's address: SUPABASE_URL.")] = "",
    supabase_key: Annotated[str, _flag("Its secret key: SUPABASE_SERVICE_ROLE_KEY.")] = "",
    speech: Annotated[str, _flag("auto, faster-whisper, openai-whisper or off: RELAY_STT.")] = "",
    no_check: Annotated[bool, typer.Option("--no-check", help="Try nothing live.")] = False,
) -> None:
    """Ask for what Relay needs, try it, and write .env; may be repeated.

    The other flags go with --non-interactive. Others on this machine can read flags in its list of processes: give
    what is secret in the environment, under the same names.
    """
    from relay.surfaces.cli.setup.sheet import NAMES

    given = (token, key, anthropic_url, model, small_model, timezone, database_url, supabase_url, supabase_key, speech)
    flags = dict(zip(NAMES, given, strict=True))
    if non_interactive:
        from relay.surfaces.cli.setup.given import write_given

        _choose_loop()
        write_given(flags, storage, checked=not no_check)
    elif any(flags.values()) or storage or no_check:
        raise SettingsError("These flags go with --non-interactive.")
    else:
        _interview()
        print(f"Start it with `{RELAY} run`.")


@cli.command()
def chat(offline: Offline = False) -> None:
    """Talk in the terminal, through the very same path."""
    settings = _ready(quiet=True)
    if not offline:
        require(settings, "ANTHROPIC_API_KEY")
    from relay.surfaces.cli.terminal import conversation as terminal

    _run(terminal.chat(settings, offline))


@database.command("migrate")
def db_migrate(
    again: Annotated[bool, typer.Option("--again", help="All SQL once more: undoes changes made by hand.")] = False,
) -> None:
    """Bring the database up to date."""
    settings = _ready(quiet=True)
    from relay.runtime.storage import bring_up_to_date, direct, open_storage

    async def work() -> None:
        async with open_storage(direct(settings)) as opened:
            changed = await bring_up_to_date(opened, settings, again)
            print(f"{'Migrated' if changed else 'Up to date'}: schema {migrations.load().version}, {opened.label}")

    _run(work())


@database.command("status")
def db_status() -> None:
    """Show which version the database has and which one this Relay knows."""
    settings = _ready(quiet=True)
    from relay.runtime.storage import open_storage

    async def work() -> None:
        async with open_storage(settings) as opened:
            found = await migrations.present(opened.database)
            current = migrations.check(found, migrations.load())
            print(
                json.dumps(
                    {
                        "storage": opened.label,
                        "database": found["version"],
                        "relay": migrations.load().version,
                        "up_to_date": current,
                    },
                    indent=2,
                )
            )

    _run(work())


@database.command("sql")
def db_sql() -> None:
    """Print all SQL, for a SQL editor; it changes nothing when run again."""
    print(migrations.printed())


@cli.command()
def move(
    to: Annotated[str, typer.Option(help="postgresql://…, a Supabase project (https://…), or the word embedded.")],
    key_env: Annotated[
        str, typer.Option(help="The variable that holds the Supabase target's service role key.")
    ] = "SUPABASE_SERVICE_ROLE_KEY",
    data_dir: Annotated[
        Path | None, typer.Option(help="Where an embedded target is (otherwise in RELAY_DATA_DIR).")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="What the target holds may go, for good.")] = False,
) -> None:
    """Copy all data from the database in the settings to another one; run it again to go on after a break."""
    settings = _ready(quiet=True)
    from relay.surfaces.cli import move as moving

    _run(moving.move(settings, to, key_env, data_dir, replace))


@cli.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False) -> None:
    """Look at all that Relay needs, and say how to mend what is wrong. Changes nothing."""
    settings, wrong = tolerant()
    _logging(settings, quiet=True)
    from relay.surfaces.cli.doctor import doctor as surgery

    async def work() -> None:
        findings = await surgery.examine(settings, wrong)
        print(
            surgery.as_json(findings, settings) if as_json else surgery.as_page(findings, settings, sys.stdout.isatty())
        )
        sys.exit(surgery.exit_code(findings))

    _run(work())


@cli.command()
def backup(
    to: Annotated[
        Path | None, typer.Option(help="A folder, or a file that ends in .relaybackup (otherwise RELAY_BACKUP_DIR).")
    ] = None,
) -> None:
    """Write everything into one file, also while the bot runs."""
    settings = _ready(quiet=True)
    from relay.surfaces.cli import backup as backing

    async def work() -> None:
        await backing.backup(settings, to)

    _run(work())


@cli.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `relay backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="What the database holds may go; it is backed up.")
    ] = False,
) -> None:
    """Put a backup into the database of the settings, while no bot runs."""
    settings = _ready(quiet=True)
    from relay.surfaces.cli import backup as backing

    _run(backing.restore(settings, file, replace))


@cli.command()
def sleep(
    now: Annotated[bool, typer.Option("--now", help="A night right now, also while the bot runs.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done, to which memories.")] = False,
) -> None:
    """The nightly work: what it did last, what it would do, or do it now."""
    settings = _ready(quiet=True)
    if now and not dry_run:
        require(settings, "ANTHROPIC_API_KEY")
    from relay.surfaces.cli import sleep as bedtime

    _run(bedtime.preview(settings) if dry_run else bedtime.now(settings) if now else bedtime.look(settings))


@cli.command()
def export(
    user: Annotated[int | None, typer.Option(help="Whose memory (otherwise the admin's): a Telegram user id.")] = None,
    chat: Annotated[int | None, typer.Option(help="Or that of a group: its chat id.")] = None,
    to: Annotated[Path, typer.Option(help="The folder to write into.")] = Path(),
) -> None:
    """Write what one person or group has said and what is known, to read and to import again."""
    settings = _ready(quiet=True)
    from relay.surfaces.cli import export as exporting

    async def work() -> None:
        await exporting.export(settings, user, chat, to)

    _run(work())


@cli.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="What `relay export` or /export wrote: .jsonl or .zip.")],
    user: Annotated[int | None, typer.Option(help="Whose memory it becomes (otherwise whose it was).")] = None,
    chat: Annotated[int | None, typer.Option(help="Or the group whose memory it is: its chat id.")] = None,
) -> None:
    """Add an export that you made to the database of the settings, each row once, while no bot runs."""
    settings = _ready(quiet=True)
    from relay.surfaces.cli import export as exporting

    _run(exporting.take_in(settings, file, user, chat))


@cli.command()
def version() -> None:
    """Show Relay's version."""
    from relay.runtime import app

    print(app.read_version())


add_chat_commands(cli)
