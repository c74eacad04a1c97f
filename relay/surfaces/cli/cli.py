"""The command line: `relay …`."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import Annotated, Any

import typer

from relay.core.errors import SettingsError
from relay.core.program import RELAY, read_version, shows_colours
from relay.core.redaction.logs import say
from relay.core.settings import Settings, find_missing, load_with_errors, require
from relay.core.tasks import run_beside
from relay.surfaces.cli import shell
from relay.surfaces.cli.command_list import Commands, Shell
from relay.surfaces.cli.terminal.keyboard import is_attended


class Root(Commands):
    """All commands. Those of other modules are imported when they are needed, so `relay run` starts without them."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns a command; None if there is none of that name."""
        if cmd_name not in self.commands:
            self._import_others()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names of all commands, sorted."""
        self._import_others()
        return super().list_commands(ctx)

    def _import_others(self) -> None:
        from relay.surfaces.cli.chat_commands import add_chat_commands
        from relay.surfaces.cli.contexts import session
        from relay.surfaces.cli.contexts.compose import compose
        from relay.surfaces.cli.db import database
        from relay.surfaces.cli.memory import memory
        from relay.surfaces.cli.memory.preferences import preferences
        from relay.surfaces.cli.operations import operations
        from relay.surfaces.cli.web.page import show_link
        from relay.surfaces.cli.web.token import token

        others = Shell(rich_markup_mode=None)
        others.add_typer(compose, name="compose")
        others.add_typer(database, name="db")
        others.add_typer(memory, name="memory")
        others.add_typer(preferences, name="preferences")
        others.add_typer(session, name="session")
        others.add_typer(token, name="token")
        others.command("web")(show_link)
        others.registered_commands += operations.registered_commands
        add_chat_commands(others)
        self.commands = {**typer.main.get_group(others).commands, **self.commands}


cli = Shell(
    cls=Root,
    help="A self-hosted Telegram assistant on Claude that remembers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Offline = Annotated[bool, typer.Option("--offline", help="Use a stand-in model; needs no key.")]


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
    """Run the bot. At a terminal, it first asks for missing settings."""
    needed = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
    settings = shell.ready()
    checking = is_attended()
    if find_missing(settings, *needed) and checking:
        _interview()  # it checks the key
        checking = False
        print("Relay starts now; Ctrl-C stops it.", flush=True)
        settings = shell.ready()
    from relay.surfaces.cli.doctor.settings import find_ignored_settings

    for found in find_ignored_settings():
        say(f"{found.said}. {found.fix}")
    require(settings, *needed)
    from relay.surfaces.server import serve

    shell.run_work(_check_beside(serve.run(settings), settings) if checking else serve.run(settings))


async def _check_beside(work: Coroutine[Any, Any, None], settings: Settings) -> None:
    """Runs the bot. For the person at the terminal, checks meanwhile whether the model can be used."""
    from relay.surfaces.cli.doctor.model import warn_of_model

    async with run_beside(warn_of_model(settings)):
        await work


def _interview() -> None:
    from relay.surfaces.cli.setup.interview import interview

    shell.choose_loop()
    print(f"\nSaved, readable only by you: {interview()}", flush=True)


def _flag(says: str) -> Any:
    return typer.Option(help=says, show_default=False)


@cli.command("setup")
def set_up(
    non_interactive: Annotated[
        bool, typer.Option("--non-interactive", help="Don't ask. Take the answers from the environment and the flags.")
    ] = False,
    token: Annotated[str, _flag("The bot's token: TELEGRAM_BOT_TOKEN.")] = "",
    key: Annotated[str, _flag("The key for Claude: ANTHROPIC_API_KEY.")] = "",
    anthropic_url: Annotated[str, _flag("Another server with the same API: ANTHROPIC_BASE_URL.")] = "",
    model: Annotated[str, _flag("The model that answers: RELAY_MODEL.")] = "",
    small_model: Annotated[str, _flag("The small model: RELAY_SMALL_MODEL.")] = "",
    timezone: Annotated[str, _flag("The time zone, such as Europe/Berlin or UTC+2: RELAY_TIMEZONE.")] = "",
    storage: Annotated[str, _flag("embedded, postgres or supabase (otherwise unchanged).")] = "",
    database_url: Annotated[str, _flag("The PostgreSQL address: DATABASE_URL.")] = "",
    supabase_url: Annotated[str, _flag("The Supabase project's address: SUPABASE_URL.")] = "",
    supabase_key: Annotated[str, _flag("The project's secret key: SUPABASE_SERVICE_ROLE_KEY.")] = "",
    speech: Annotated[str, _flag("auto, faster-whisper, openai-whisper or off: RELAY_STT.")] = "",
    no_check: Annotated[bool, typer.Option("--no-check", help="Skip the live checks.")] = False,
) -> None:
    """Ask for the settings, check them, and write .env. You can run it again.

    The other flags need --non-interactive. Other users of this machine can see flags in the list of processes, so pass
    secrets in the environment, under the settings' names.
    """
    from relay.surfaces.cli.setup.sheet import NAMES

    given = (token, key, anthropic_url, model, small_model, timezone, database_url, supabase_url, supabase_key, speech)
    flags = dict(zip(NAMES, given, strict=True))
    if non_interactive:
        from relay.surfaces.cli.setup.given import write_given

        shell.choose_loop()
        write_given(flags, storage, checked=not no_check)
    elif any(flags.values()) or storage or no_check:
        raise SettingsError("These flags need --non-interactive.")
    else:
        _interview()
        print(f"Start it with `{RELAY} run`.")


@cli.command()
def chat(offline: Offline = False) -> None:
    """Talk to the assistant in the terminal."""
    settings = shell.ready(quiet=True)
    if not offline:
        require(settings, "ANTHROPIC_API_KEY")
    from relay.surfaces.cli.terminal import conversation as terminal

    shell.run_work(terminal.chat(settings, offline))


@cli.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False) -> None:
    """Check the installation and say how to fix problems. Changes nothing."""
    settings, wrong = load_with_errors()
    shell.log_as(settings, quiet=True)
    from relay.surfaces.cli.doctor import doctor as surgery

    async def work() -> None:
        findings = await surgery.examine(settings, wrong)
        print(
            surgery.as_json(findings, settings)
            if as_json
            else surgery.as_page(findings, settings, shows_colours(sys.stdout))
        )
        sys.exit(surgery.exit_code(findings))

    shell.run_work(work())


@cli.command()
def version() -> None:
    """Show Relay's version."""
    print(read_version())
