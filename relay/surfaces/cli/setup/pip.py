"""Installs optional packages into Relay's own environment."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

Steps = Sequence[Sequence[str]]
"""The arguments of pip, call by call."""


def has_pip() -> bool:
    """Tests whether pip is available; an environment made by uv has none."""
    return find_spec("pip") is not None


def can_install() -> bool:
    """Tests whether packages can be installed, by pip or by uv."""
    return has_pip() or shutil.which("uv") is not None


def install(steps: Steps) -> bool:
    """Installs packages; returns whether that worked."""
    return can_install() and all(_run(arguments) for arguments in steps)


def _run(arguments: Sequence[str]) -> bool:
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check") if has_pip() else ("--quiet",)
    return subprocess.run([*_installer(), *quiet, *arguments], check=False).returncode == 0  # noqa: S603 — our own words


def install_commands(steps: Steps) -> list[str]:
    """Returns the commands that install packages, for a person to type."""
    return [shlex.join([*_installer(), *arguments]) for arguments in steps]


def _installer() -> Sequence[str]:
    if has_pip():
        return (sys.executable, "-m", "pip", "install")
    return ("uv", "pip", "install", "--python", sys.executable)
