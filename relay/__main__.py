"""`relay` and `python -m relay`."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Iterator

from relay.core.errors import RelayError, SettingsError, TokenRefused
from relay.core.program import RELAY, find_folder

ASKED = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
"""What `relay setup` asks for first."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


class OutputError(OSError):
    """Standard output can't be written."""


class Output(io.TextIOWrapper):
    """Standard output. It goes nowhere once its reader has ended, or once it can't be written."""

    def write(self, text: str) -> int:
        """Writes text. Raises `OutputError`."""
        if text != "":  # Click writes nothing to find out whether it can, and hides the error
            with dropped_if_broken():
                super().write(text)
        return len(text)

    def flush(self) -> None:
        """Writes what it still holds. Raises `OutputError`."""
        with dropped_if_broken():
            super().flush()


@contextlib.contextmanager
def dropped_if_broken() -> Iterator[None]:
    """Sends the rest of the output nowhere if it can't be written, and raises `OutputError` unless its reader has
    ended. See the “Note on SIGPIPE” of Python's documentation."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutputError(error.errno, error.strerror) from None


def main() -> None:
    """Runs the command line; an error of Relay's is one sentence and an exit code (2: a setting is wrong)."""
    gc.disable()  # imports make nothing that it could free; `run_work` enables it
    open_streams()
    try:
        try:
            if find_folder() is None:
                raise RelayError("the current folder has been deleted. Change to another one.")
            from relay.surfaces.cli.cli import cli

            cli()
        except SystemExit:  # commands end this way, also after success
            sys.stdout.flush()
            raise
        except BaseException:
            with contextlib.suppress(OutputError):
                sys.stdout.flush()
            raise
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except RelayError as error:
        from relay.surfaces.cli.shell import error_text, exit_code

        hint = f" Or run `{RELAY} setup`." if asks_for(error) else ""
        print(f"relay: {error_text(error)}{hint}", file=sys.stderr)
        sys.exit(exit_code(error))
    except OutputError as error:
        print(f"relay: The output can't be written: {error.strerror}.", file=sys.stderr)
        sys.exit(1)


def open_streams() -> None:
    """Opens standard streams that are closed. Standard output shows what its encoding lacks as a question mark."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if isinstance(old := sys.stdout, io.TextIOWrapper):
        encoding, lines, at_once = old.encoding, old.line_buffering, old.write_through
        sys.stdout = Output(old.detach(), encoding, "replace", line_buffering=lines, write_through=at_once)
        vars(sys)["__stdout__"] = sys.stdout  # is asked for the width of the terminal


def asks_for(error: RelayError) -> bool:
    """Whether `relay setup` would ask, at this terminal, for what is wrong."""
    wrong = isinstance(error, SettingsError | TokenRefused)
    return wrong and sys.stdin.isatty() and any(name in str(error) for name in ASKED)


if __name__ == "__main__":
    main()
