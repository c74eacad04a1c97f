"""Addresses as people write them into settings: of the web, and of a database."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

CONNECTION = (
    "must be a connection string such as postgresql://user:password@host:5432/database, without the brackets of "
    "[YOUR-PASSWORD]; in the password, [ ] / ? # @ are written %5B %5D %2F %3F %23 %40"
)


def connection_string(value: str) -> str:
    """A connection string whose parts can be told apart. Raises `ValueError`, which does not tell it."""
    parts = _parts(value) if re.match(r"^postgres(ql)?://", value) else None
    if parts is not None:
        behind = (parts.netloc.partition("@")[2], parts.path, parts.query.partition("=")[0], parts.fragment)
        if not any("@" in part for part in behind):  # else a piece of the password was taken for one of these
            return value
    raise ValueError(CONNECTION)


def web_address(value: str) -> str:
    """An address of the web that what connects to it takes, without a slash at its end. Raises `ValueError`."""
    if re.match(r"^https?://[^\s/]+", value) and _parts(value) and _is_taken(value):
        return value.rstrip("/")
    raise ValueError("must be an address that begins with https:// or http://")


def _parts(url: str) -> SplitResult | None:
    """The parts of an address; None when they cannot be told apart, a port is no number, or a host no name."""
    try:
        parts = urlsplit(url)
        for host in parts.netloc.rpartition("@")[2].split(","):
            _ = urlsplit(f"//{host}").port
            if "%" not in host:  # else a socket's folder
                (urlsplit(f"//{host}").hostname or "").encode("idna")
    except ValueError:  # its text holds what may be the password
        return None
    return parts


def _is_taken(url: str) -> bool:
    """Whether httpx takes an address: it looks at names and numbers of hosts more closely."""
    from httpx import URL, InvalidURL

    try:
        URL(url)
    except InvalidURL:
        return False
    return True
