"""Validates addresses in settings: web addresses and database connection strings."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

CONNECTION = (
    "must be a connection string such as postgresql://user:password@host:5432/database, without the brackets of "
    "[YOUR-PASSWORD]; in the password, [ ] / ? # @ are written %5B %5D %2F %3F %23 %40"
)


def connection_string(value: str) -> str:
    """Returns a valid connection string. Raises `ValueError` without quoting it."""
    parts = _parts(value) if re.match(r"^postgres(ql)?://", value) else None
    if parts is not None:
        behind = (parts.netloc.partition("@")[2], parts.path, parts.query.partition("=")[0], parts.fragment)
        if not any("@" in part for part in behind):  # otherwise part of the password was parsed as something else
            return value
    raise ValueError(CONNECTION)


def web_address(value: str) -> str:
    """Returns a web address without a trailing slash, if httpx accepts it. Raises `ValueError`."""
    if re.match(r"^https?://[^\s/]+", value) and _parts(value) and _is_taken(value):
        return value.rstrip("/")
    raise ValueError("must be an address that begins with https:// or http://")


def _parts(url: str) -> SplitResult | None:
    """Splits an address. Returns None if it can't be parsed, or its port or host is invalid."""
    try:
        parts = urlsplit(url)
        for host in parts.netloc.rpartition("@")[2].split(","):
            _ = urlsplit(f"//{host}").port
            if "%" not in host:  # otherwise it is a socket directory
                (urlsplit(f"//{host}").hostname or "").encode("idna")
    except ValueError:  # the error text may contain the password
        return None
    return parts


def _is_taken(url: str) -> bool:
    """Tests whether httpx accepts an address; it checks host names and numbers more strictly."""
    from httpx import URL, InvalidURL

    try:
        URL(url)
    except InvalidURL:
        return False
    return True
