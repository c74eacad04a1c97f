"""Which speech engines are installed, without importing them."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

MODULES = {"faster-whisper": ("faster_whisper", "av"), "openai-whisper": ("whisper", "av")}
"""The engines, the lighter first, and the packages that each needs."""
HOW = "`relay setup` where Relay runs, then a restart, does it (a service or Docker: see deploy/README.md)"
"""What gets an engine, as a sentence without its end."""
DEAF = f"Voice notes are not switched on here: {HOW}."
NOT_HEARD = "I can't listen to recordings here. Please write it to me."
"""What those are told who speak to a Relay that has no engine."""


def is_installed(engine: str) -> bool:
    """Whether all that an engine needs is there."""
    return all(find_spec(module) is not None for module in MODULES[engine])


def chosen(setting: str) -> str | None:
    """The engine to use by RELAY_STT; None: it is off, or not installed."""
    wanted = [engine for engine in MODULES if setting in ("auto", engine)]
    return next((engine for engine in wanted if is_installed(engine)), None)


def version_of(engine: str) -> str:
    """The version of an engine that is installed; empty when it tells none."""
    try:
        return metadata.version(engine)
    except metadata.PackageNotFoundError:
        return ""
