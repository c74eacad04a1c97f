"""Runs a command of the shell with its settings, log and event loop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
from collections.abc import Coroutine
from typing import Any

from relay.core.errors import CommandRefused, RelayError, SettingsError, TokenRefused, WrongArgument
from relay.core.redaction.logs import configure
from relay.core.settings import Settings, load
from relay.surfaces.cli.output import print_json
from relay.surfaces.server.signals import hear_signals

EXIT_CODES: dict[type[BaseException], int] = {SettingsError: 2, TokenRefused: 2, WrongArgument: 2, RelayError: 1}
"""Exit codes by error; the first match counts. 2: a setting or an argument is wrong."""


def ready(quiet: bool = False) -> Settings:
    """Loads the settings and sets up the log; `quiet`: only errors, unless the settings ask for more, and what Relay
    says is plain text, unless they ask for JSON."""
    return log_as(load(), quiet)


def log_as(settings: Settings, quiet: bool) -> Settings:
    """Sets up the log as the settings say, and returns them."""
    level = "ERROR" if quiet and settings.log_level == "INFO" else settings.log_level
    configure(level, settings.log_format, settings.secrets, plain=quiet)
    return settings


def run_work(work: Coroutine[Any, Any, object], as_json: bool = False) -> None:
    """Runs a command. `as_json`: prints a `RelayError` as `{"error": …}`."""
    choose_loop()
    gc.enable()
    gc.freeze()  # imported objects stay, so the garbage collector need not check them
    try:
        asyncio.run(_stop_on_signals(work))
    except RelayError as error:
        if not as_json:
            raise
        print_json({"error": error_text(error)})
        sys.exit(exit_code(error))


async def _stop_on_signals(work: Coroutine[Any, Any, object]) -> None:
    """Runs work that the first SIGTERM or SIGHUP (the terminal was closed) interrupts as Ctrl-C does, so that nothing
    that it has started stays behind."""
    loop, task, heard = asyncio.get_running_loop(), asyncio.current_task(), list[int]()

    def stop(number: int) -> None:
        loop.remove_signal_handler(number)
        heard.append(number)
        if task:
            task.cancel()

    if threading.current_thread() is threading.main_thread():  # others hear no signals
        hear_signals(stop, "SIGTERM", "SIGHUP")
    try:
        await work
    except asyncio.CancelledError:
        if not heard:
            raise
        sys.exit(128 + heard[0])


def run_result(work: Coroutine[Any, Any, object], as_json: bool) -> None:
    """Runs a command to its end. `as_json`: prints its result as JSON, and all other output to standard error."""

    async def printed() -> None:
        with contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout):
            result = await work
        if as_json:
            print_json(result)

    run_work(printed(), as_json)


def error_text(error: RelayError) -> str:
    """Returns an error's sentence. Commands that a refusal names are given as in the shell."""
    if not isinstance(error, CommandRefused):
        return str(error)
    from relay.surfaces.cli.terminal.messenger import name_commands

    return name_commands(str(error))


def exit_code(error: BaseException) -> int:
    """Returns the exit code for an error."""
    return next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))


def choose_loop() -> None:
    """Chooses an event loop that psycopg can use on Windows."""
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
