"""`relay` and `python -m relay`."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys

from relay.core.errors import RelayError, SettingsError, TokenRefused
from relay.core.program import RELAY, drop_output, find_folder

ASKED = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
"""What `relay setup` asks for first."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Runs the command line; an error of ours is one sentence and an exit code (2: a setting is wrong)."""
    gc.disable()  # imports make nothing that it could free; `run_work` enables it
    open_streams()
    try:
        try:
            if find_folder() is None:
                raise RelayError("the current folder has been deleted. Change to another one.")
            from relay.surfaces.cli.cli import cli

            cli()
        finally:
            write_out()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except RelayError as error:
        from relay.surfaces.cli.shell import error_text, exit_code

        hint = f" Or run `{RELAY} setup`." if asks_for(error) else ""
        print(f"relay: {error_text(error)}{hint}", file=sys.stderr)
        sys.exit(exit_code(error))
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        drop_output()
        print(f"relay: The output can't be written: {error.strerror}.", file=sys.stderr)
        sys.exit(1)


def write_out() -> None:
    """Writes what standard output still holds, or nowhere if its reader has ended."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


def open_streams() -> None:
    """Opens standard streams that are closed. Standard output shows what its encoding lacks as a question mark."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def asks_for(error: RelayError) -> bool:
    """Whether `relay setup` would ask, at this terminal, for what is wrong."""
    wrong = isinstance(error, SettingsError | TokenRefused)
    return wrong and sys.stdin.isatty() and any(name in str(error) for name in ASKED)


if __name__ == "__main__":
    main()
