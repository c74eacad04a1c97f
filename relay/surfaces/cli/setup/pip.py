"""Installs optional packages into Relay's own environment."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

Steps = Sequence[Sequence[str]]
"""The arguments of pip, call by call."""


def has_pip() -> bool:
    """Tests whether pip is available."""
    return find_spec("pip") is not None


def install(steps: Steps) -> bool:
    """Installs packages; returns whether that worked."""
    return has_pip() and all(_run(arguments) for arguments in steps)


def _run(arguments: Sequence[str]) -> bool:
    command = (sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check")
    return subprocess.run([*command, *arguments], check=False).returncode == 0  # noqa: S603 — our own words


def install_commands(steps: Steps) -> list[str]:
    """Returns the commands that install packages, for a person to type."""
    python = shlex.quote(sys.executable)
    pip = f"{python} -m pip install" if has_pip() else f"uv pip install --python {python}"
    return [f"{pip} {shlex.join(arguments)}" for arguments in steps]
