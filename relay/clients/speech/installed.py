"""Which speech engines are installed, without importing them."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

MODULES = {"faster-whisper": ("faster_whisper", "av"), "openai-whisper": ("whisper", "av")}
"""The engines, lightest first, and the packages that each needs."""
HOW = "`relay setup` where Relay runs, then a restart, does it (a service or Docker: see deploy/README.md)"
"""How to install an engine, as a sentence without its end."""
DEAF = f"Voice notes are not switched on here: {HOW}."
NOT_HEARD = "I can't listen to recordings here. Please write it to me."
"""What people hear if they send speech to a Relay without an engine."""


def is_installed(engine: str) -> bool:
    """Tests whether all packages of an engine are installed."""
    return all(find_spec(module) is not None for module in MODULES[engine])


def chosen(setting: str) -> str | None:
    """Returns the engine to use by RELAY_STT; None: off or not installed."""
    wanted = [engine for engine in MODULES if setting in ("auto", engine)]
    return next((engine for engine in wanted if is_installed(engine)), None)


def version_of(engine: str) -> str:
    """Returns the version of an installed engine; empty if unknown."""
    try:
        return metadata.version(engine)
    except metadata.PackageNotFoundError:
        return ""
