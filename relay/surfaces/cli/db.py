"""`relay db`: migrations and their SQL."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.core.frozen import frozen
from relay.memory import migrations
from relay.surfaces.cli.command_list import make_group
from relay.surfaces.cli.output import AsJson, print_json
from relay.surfaces.cli.shell import ready, run_result, run_work

database = make_group("Migrate the database, or print the SQL.")


@frozen
class Migrated:
    """The result of `relay db migrate`."""

    changed: bool
    schema: int
    """The schema's version now."""
    storage: str


@frozen
class DatabaseStatus:
    """The schema's version in the database, and the one that this Relay knows."""

    storage: str
    database: int
    relay: int
    up_to_date: bool


@database.command("migrate")
def db_migrate(
    again: Annotated[
        bool, typer.Option("--again", help="Run all SQL again, which undoes changes made by hand.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database up to date."""
    settings = ready(quiet=True)
    from relay.runtime.storage import bring_up_to_date, direct, open_storage

    async def work() -> Migrated:
        async with open_storage(direct(settings)) as opened:
            changed = await bring_up_to_date(opened, settings, again)
            done = Migrated(changed, migrations.load().version, opened.label)
            print(f"{'Migrated' if changed else 'Up to date'}: schema {done.schema}, {done.storage}")
            return done

    run_result(work(), as_json)


@database.command("status")
def db_status(as_json: AsJson = False) -> None:
    """Show, as JSON, which version the database has and which one this Relay knows."""
    settings = ready(quiet=True)
    from relay.runtime.storage import open_storage

    async def work() -> None:
        async with open_storage(settings) as opened:
            found = await migrations.present(opened.database)
            current = migrations.check(found, migrations.load())
            print_json(DatabaseStatus(opened.label, found.version, migrations.load().version, current))

    run_work(work(), as_json)


@database.command("sql")
def db_sql() -> None:
    """Print all SQL, for a SQL editor. You can run it more than once."""
    print(migrations.print_sql())
