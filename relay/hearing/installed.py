"""Which speech engines are installed, without importing them."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

MODULES = {"faster-whisper": ("faster_whisper", "av"), "openai-whisper": ("whisper", "av")}
"""The engines, the lighter first, and the packages that each needs."""
SETUP = "`relay setup` where Relay runs"
LITE = " or `pip install 'relay[voice-lite]'`"


def is_installed(engine: str) -> bool:
    """Whether all that an engine needs is there."""
    return all(find_spec(module) is not None for module in MODULES[engine])


def chosen(setting: str) -> str | None:
    """The engine to use by RELAY_STT; None: it is off, or not installed."""
    wanted = [engine for engine in MODULES if setting in ("auto", engine)]
    return next((engine for engine in wanted if is_installed(engine)), None)


def how(setting: str = "auto") -> str:
    """What gets the engine that RELAY_STT asks for, as a sentence without its end. Not Relay's extra `voice`: on Linux,
    that brings gigabytes for graphics cards, which `relay setup` leaves out."""
    return f"{SETUP}{'' if setting == 'openai-whisper' else LITE}, then a restart, does it"


def deaf(setting: str = "auto") -> str:
    """What those are told who speak to a Relay that has no engine."""
    return f"Voice notes are not switched on here: {how(setting)}."


def version_of(engine: str) -> str:
    """The version of an engine that is installed; empty when it tells none."""
    try:
        return metadata.version(engine)
    except metadata.PackageNotFoundError:
        return ""
