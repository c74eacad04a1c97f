"""What every client that speaks HTTP by aiohttp needs: the certificates to trust, and the proxy of an address."""

from __future__ import annotations

import ssl
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from httpx import create_ssl_context


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that are trusted, read once."""
    return create_ssl_context()


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address."""
    address = urlsplit(url)
    proxies = {} if proxy_bypass(address.hostname or "") else getproxies()
    return proxies.get(address.scheme) or proxies.get("all")
