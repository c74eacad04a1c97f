"""Run the stand-in as its own process: python -m tests.standins.anthropic --port N."""

import argparse
import asyncio
import contextlib
import signal

from .server import AnthropicStandIn


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.standins.anthropic", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port; the URL is printed")
    parser.add_argument("--api-key", default="sk-ant-test")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before the first token")
    parser.add_argument("--chunk-delay", type=float, default=0.0, help="seconds before each delta")
    parser.add_argument("--delta-size", type=int, default=24, help="characters in one delta")
    parser.add_argument("--cache-minimum", type=int, default=1024, help="tokens below which nothing is cached")
    parser.add_argument("--context-window", type=int, default=200_000, help="tokens")
    parser.add_argument("--user-marker", help="regex; what follows its last match is the user's text")
    parser.add_argument("--keep", type=int, default=200, help="requests kept in the log")
    return parser.parse_args()


async def run(options: argparse.Namespace) -> None:
    """Serve until SIGINT or SIGTERM."""
    model = AnthropicStandIn(
        api_key=options.api_key,
        port=options.port,
        delay=options.delay,
        chunk_delay=options.chunk_delay,
        delta_size=options.delta_size,
        cache_minimum=options.cache_minimum,
        context_window=options.context_window,
        user_marker=options.user_marker,
        keep=options.keep,
    )
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    async with model:
        print(model.url, flush=True)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(run(arguments()))
