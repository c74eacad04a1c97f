"""``python -m tests.standins.telegram --port N --token T``: prints its address and serves until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import signal

from tests.standins.telegram.server import TelegramStandIn
from tests.standins.telegram.values import TEST_TOKEN


async def serve(token: str, port: int, latency: float) -> None:
    """Serve until SIGINT or SIGTERM."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, ended.set)
    async with TelegramStandIn(token, port, latency=latency) as tg:
        print(tg.url, flush=True)
        await ended.wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="A Telegram Bot API on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default=TEST_TOKEN)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds added to every request")
    options = parser.parse_args()
    asyncio.run(serve(options.token, options.port, options.latency))


if __name__ == "__main__":
    main()
