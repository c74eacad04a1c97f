"""`relay` and `python -m relay`."""

from __future__ import annotations

import sys

from relay.errors import RelayError, SettingsError, TokenRefused


def main() -> None:
    """Runs the command line; an error of ours is one sentence and an exit code (2: a setting is wrong)."""
    from relay.cli import cli

    try:
        cli()
    except (SettingsError, TokenRefused) as error:
        print(f"relay: {error}", file=sys.stderr)
        sys.exit(2)
    except RelayError as error:
        print(f"relay: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
