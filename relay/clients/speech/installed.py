"""Finds which speech engines are installed, without importing them."""

from __future__ import annotations

from importlib.util import find_spec

from relay.core.program import RELAY

MODULES = {"faster-whisper": ("faster_whisper", "av"), "openai-whisper": ("whisper", "av")}
"""The engines, lightest first, and the packages that each needs."""
HOW = f"run `{RELAY} setup` where Relay runs, then restart it (for a service or Docker: see deploy/README.md)"
"""How to install an engine, as a sentence without its full stop."""
DEAF = f"Speech to text is not installed here: {HOW}."
NOT_HEARD = "I can't listen to recordings here. Please type it instead."
"""The text for people who send speech to a Relay without an engine."""


def is_installed(engine: str) -> bool:
    """Tests whether all packages of an engine are installed."""
    return all(find_spec(module) is not None for module in MODULES[engine])


def choose_engine(setting: str) -> str | None:
    """Returns the engine to use by RELAY_STT; None: off or not installed."""
    wanted = [engine for engine in MODULES if setting in ("auto", engine)]
    return next((engine for engine in wanted if is_installed(engine)), None)
