"""Commands for the data as a whole: moving, backups, exports, the nightly work."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Annotated

import typer

from relay.core.settings import require
from relay.surfaces.cli.command_list import Shell
from relay.surfaces.cli.output import AsJson
from relay.surfaces.cli.parameters import BACKUP_ENDING, read_file_path, read_folder
from relay.surfaces.cli.shell import ready, run_result

operations = Shell()


def _read_target(word: str) -> Path:
    """Returns where to write a backup: a folder, or a file that ends as backups do."""
    return (read_file_path if word.endswith(BACKUP_ENDING) and not os.path.isdir(word) else read_folder)(word)


@operations.command()
def move(
    to: Annotated[str, typer.Option(help="postgresql://…, a Supabase project (https://…), or the word embedded.")],
    key_env: Annotated[
        str, typer.Option(help="The variable with the Supabase target's service role key.")
    ] = "SUPABASE_SERVICE_ROLE_KEY",
    data_dir: Annotated[
        Path | None, typer.Option(help="The folder of an embedded target (otherwise RELAY_DATA_DIR).")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Delete the target's data for good.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy all data from the configured database to another one. Run it again to resume."""
    settings = ready(quiet=True)
    from relay.surfaces.cli import move as moving

    run_result(moving.move(settings, to, key_env, data_dir, replace), as_json)


@operations.command()
def backup(
    to: Annotated[
        Path | None,
        typer.Option(
            parser=_read_target, help="A folder, or a file that ends in .relaybackup (otherwise RELAY_BACKUP_DIR)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write everything into one file. The bot can keep running."""
    settings = ready(quiet=True)
    from relay.surfaces.cli import backup as backing

    run_result(backing.backup(settings, to), as_json)


@operations.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file written by `relay backup`.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the database's data, after a backup of it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into the configured database. Stop the bot first."""
    settings = ready(quiet=True)
    from relay.surfaces.cli import backup as backing

    run_result(backing.restore(settings, file, replace), as_json)


@operations.command()
def sleep(
    now: Annotated[bool, typer.Option("--now", help="Run the nightly work now. The bot can keep running.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, and to which memories.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the last nightly run, preview the next one, or run it now."""
    settings = ready(quiet=True)
    if now and not dry_run:
        require(settings, "ANTHROPIC_API_KEY")
    from relay.surfaces.cli import sleep as bedtime

    work = bedtime.preview(settings) if dry_run else bedtime.run_now(settings) if now else bedtime.show_last(settings)
    run_result(work, as_json)


@operations.command()
def export(
    user: Annotated[int | None, typer.Option(help="Whose memory: a Telegram user id (otherwise the admin's).")] = None,
    chat: Annotated[int | None, typer.Option(help="Or a group's: its chat id.")] = None,
    to: Annotated[Path, typer.Option(parser=read_folder, help="The folder to write into.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Export what one person or group said and what Relay knows about them."""
    settings = ready(quiet=True)
    from relay.surfaces.cli import export as exporting

    run_result(exporting.export(settings, user, chat, to), as_json)


@operations.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file written by `relay export` or /export (.jsonl or .zip).")],
    user: Annotated[int | None, typer.Option(help="The new owner: a Telegram user id (otherwise the old one).")] = None,
    chat: Annotated[int | None, typer.Option(help="Or the group: its chat id.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import an export into the configured database. Stop the bot first."""
    settings = ready(quiet=True)
    from relay.surfaces.cli import export as exporting

    run_result(exporting.take_in(settings, file, user, chat), as_json)
