"""`relay` and `python -m relay`."""

from __future__ import annotations

import sys

from relay.errors import RelayError, SettingsError, TokenRefused

ASKED = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
"""What `relay setup` asks for first."""


def main() -> None:
    """Runs the command line; an error of ours is one sentence and an exit code (2: a setting is wrong)."""
    from relay.cli import cli

    try:
        cli()
    except (SettingsError, TokenRefused) as error:
        helped = sys.stdin.isatty() and any(name in str(error) for name in ASKED)
        print(f"relay: {error}{' Or run `relay setup`.' if helped else ''}", file=sys.stderr)
        sys.exit(2)
    except RelayError as error:
        print(f"relay: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
