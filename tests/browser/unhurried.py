"""Runs Relay with a rate limit high enough for tests. The usual limit is 60 requests a minute."""

from relay.core import limits

limits.REQUESTS_PER_MINUTE = 100_000

if __name__ == "__main__":
    from relay.__main__ import main

    main()
