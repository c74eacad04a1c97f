"""The secrets that tests use, and the search for them in all output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from tests.standins.telegram.values import TEST_TOKEN

LOGIN = re.compile(r"^\w+://(?:(.*)@)?.*$", re.DOTALL)
"""The user and password in a connection string, even if the rest of it is wrong."""
NAMED = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY", "SUPABASE_SERVICE_ROLE_KEY", "RELAY_WEBHOOK_SECRET")


def secrets_in(environment: Mapping[str, str]) -> set[str]:
    """The secrets in a process's settings: each as a whole, and its secret part."""
    whole = {environment.get(name, "") for name in NAMED}
    user, _, password = LOGIN.sub(r"\1", environment.get("DATABASE_URL", "")).partition(":")
    parts = {environment.get("TELEGRAM_BOT_TOKEN", "").partition(":")[2], password, unquote(password)}
    return {secret for secret in whole | parts if len(secret) >= 10 and secret != user}


used = secrets_in({"TELEGRAM_BOT_TOKEN": TEST_TOKEN})
"""The stand-in's token, and every secret that a process of this test run was given."""


def found(written: str) -> list[str]:
    """The secrets of this test run that a text holds: shortened, with their places."""
    places = {secret: written.find(secret) for secret in used}
    return [f"{secret[:4]}… after {written[max(0, at - 80) : at]!r}" for secret, at in places.items() if at >= 0]


def searched(written: str, environment: Mapping[str, str]) -> str:
    """A process's output. Asserts that it holds no secret that this or any earlier process was given."""
    used.update(secrets_in(environment))
    leaked = found(written)
    assert not leaked, f"a secret was written: {leaked}"
    return written


def search_files(folder: Path, environment: Mapping[str, str]) -> None:
    """Does the same for the logs in a folder."""
    for path in folder.glob("*.log*"):
        searched(path.read_text("utf-8", "replace"), environment)
