"""`relay` and `python -m relay`."""

from __future__ import annotations

import sys

from relay.core.errors import RelayError, SettingsError, TokenRefused
from relay.core.program import RELAY

ASKED = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
"""What `relay setup` asks for first."""
EXIT_CODES: dict[type[BaseException], int] = {SettingsError: 2, TokenRefused: 2, RelayError: 1, KeyboardInterrupt: 130}
"""By what ended a command; the first that fits counts."""


def main() -> None:
    """Runs the command line; an error of ours is one sentence and an exit code (2: a setting is wrong)."""
    from relay.surfaces.cli.cli import cli

    try:
        cli()
    except (RelayError, KeyboardInterrupt) as error:
        if isinstance(error, RelayError):
            hint = f" Or run `{RELAY} setup`." if asks_for(error) else ""
            print(f"relay: {error}{hint}", file=sys.stderr)
        sys.exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)))


def asks_for(error: RelayError) -> bool:
    """Whether `relay setup` would ask, at this terminal, for what is wrong."""
    wrong = isinstance(error, SettingsError | TokenRefused)
    return wrong and sys.stdin.isatty() and any(name in str(error) for name in ASKED)


if __name__ == "__main__":
    main()
