"""Shared by all aiohttp clients: trusted certificates, and the proxy for an address."""

import ssl
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from httpx import create_ssl_context


@cache
def load_certificates() -> ssl.SSLContext:
    """Returns the trusted certificates, read once."""
    return create_ssl_context()


def proxy_of(url: str) -> str | None:
    """Returns the proxy for an address from the environment; None: there is none."""
    address = urlsplit(url)
    proxies = {} if proxy_bypass(address.hostname or "") else getproxies()
    return proxies.get(address.scheme) or proxies.get("all")
