"""Checks settings (web addresses and database connection strings) and words errors about them. Pure."""

from __future__ import annotations

import re
from typing import Literal, get_args, get_origin
from urllib.parse import SplitResult, urlsplit

from pydantic.fields import FieldInfo

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


def describe_error(name: str, message: str, field: FieldInfo) -> str:
    """Returns a sentence for a wrong setting, from its name and pydantic's message."""
    message = message.removeprefix("Value error, ")
    if not message.startswith(("must", "does not")):
        message = f"must be {_describe_values(field)}"
    return f"{name} {message}."


def _describe_values(field: FieldInfo) -> str:
    """Returns in words which values a setting may have."""
    if field.annotation is bool:
        return "on or off"
    if get_origin(field.annotation) is Literal:
        *others, last = [word for word in get_args(field.annotation) if word]
        return f"{', '.join(others)} or {last}"
    if field.examples:
        return f"written like {' or '.join(field.examples)}"
    if field.annotation not in (int, float):
        return f"written as {field.default} is"
    kind = "a whole number" if field.annotation is int else "a number"
    least = next(one.ge for one in field.metadata if hasattr(one, "ge"))
    most = next((one.le for one in field.metadata if hasattr(one, "le")), None)
    return f"{kind}, {least} or more" if most is None else f"{kind} from {least} to {most}"
