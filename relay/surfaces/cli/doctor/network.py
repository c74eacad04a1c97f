"""The ports that Relay listens on, and the clock."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time

from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, failed, ok, skipped, warning

NAMES = ("ports", "clock")
NEEDS = (
    "TELEGRAM_API_URL",
    "RELAY_WEB",
    "RELAY_WEB_HOST",
    "RELAY_WEB_PORT",
    "RELAY_WEBHOOK_HOST",
    "RELAY_WEBHOOK_PORT",
)
SECONDS = 30.0
CLOCK_AHEAD = 60
"""How many seconds this machine's clock may be ahead of Telegram's. It includes the time that the answer takes."""
CLOCK_BEHIND = 3
"""How many seconds it may be behind. Then, what Telegram has just signed is in the future, and the app doesn't open."""
ASK_SECONDS = 5
ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 — the address to ask what listens on all of them


async def network(settings: Settings, here: bool) -> list[Finding]:
    """Checks the ports and the clock. `here`: Relay is running on this data directory."""
    return [await ports(settings, here), await clock(settings)]


async def ports(settings: Settings, here: bool) -> Finding:
    """Checks that Relay's ports are free, or its own. `here`: Relay is running on this data directory."""
    wanted = []
    if settings.web:
        wanted.append(("RELAY_WEB", settings.web_host, settings.web_port))
    if settings.webhook_url:
        wanted.append(("RELAY_WEBHOOK", settings.webhook_host, settings.webhook_port))
    found = [await _port(settings, *one, here) for one in wanted if one[2]]
    bad = [one for one in found if one.state != "ok"]
    if bad or not found:
        return (
            min(bad, key=lambda one: one.state != "failed")
            if bad
            else skipped("ports", "none needed: RELAY_WEB is off")
        )
    return ok("ports", ", ".join(one.said for one in found))


async def _port(settings: Settings, setting: str, host: str, port: int, here: bool) -> Finding:
    trouble = await asyncio.to_thread(_bind, host, port)
    if trouble is None:
        return ok("ports", f"{port} is free")
    if trouble != errno.EADDRINUSE:
        fix = f"Set {setting}_HOST to an address of this machine, and {setting}_PORT to a port above 1023."
        return failed("ports", f"Relay can't listen on {host}:{port} ({os.strerror(trouble)})", fix)
    status = await _status(host, port, "/readyz") if here and setting == "RELAY_WEB" else 200
    if here and status == 200:
        return ok("ports", f"Relay listens on {port}")
    if here and status == 503:
        return warning("ports", f"Relay listens on {port} but is not ready", "Relay's log says why.")
    fix = f"Stop that program, or set {setting}_PORT to another port."
    if setting == "RELAY_WEB" and not settings.model_fields_set & {"web_host", "web_port"}:
        return warning("ports", f"another program uses {port}, so Relay runs without its health page", fix)
    return failed("ports", f"another program uses {port}", fix)


def _bind(host: str, port: int) -> int | None:
    """Tries to listen there, and returns the error, if any."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name != "nt":  # there it would take the port from its owner
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror:
        return errno.EADDRNOTAVAIL
    except OSError as error:
        return error.errno or errno.EADDRNOTAVAIL
    return None


def find_address(host: str, port: int) -> str:
    """Returns the address, on this machine, of what listens there."""
    name = ANY.get(host, host)
    return f"http://{f'[{name}]' if ':' in name and not name.startswith('[') else name}:{port}"


async def _status(host: str, port: int, path: str) -> int:
    """Returns the HTTP status of a page on this machine; 0 without an answer."""
    import aiohttp

    timeout, address = aiohttp.ClientTimeout(total=ASK_SECONDS), f"{find_address(host, port)}{path}"
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(address) as response:
            return response.status
    except (aiohttp.ClientError, TimeoutError, OSError):
        return 0


async def clock(settings: Settings) -> Finding:
    """Compares this machine's clock with Telegram's."""
    from telegram.error import TelegramError

    from relay.clients.telegram.transport import AiohttpRequest

    server = AiohttpRequest(settings.telegram_api_url, 1, read_timeout=5)
    try:
        await server.initialize()
        told = await server.server_time()
    except TelegramError:
        told = None
    finally:
        await server.shutdown()
    if told is None:
        return skipped("clock", "not checked: Telegram did not answer")
    ahead = time.time() - told.timestamp()
    if -CLOCK_BEHIND <= ahead <= CLOCK_AHEAD:
        return ok("clock", "correct")
    said = f"{abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} Telegram's"
    return warning("clock", said, "Let the system set it: sudo timedatectl set-ntp true")
