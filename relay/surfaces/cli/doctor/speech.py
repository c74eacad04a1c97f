"""Speech to text: whether the engine is installed, and its model if that is a path."""

from __future__ import annotations

import re
from pathlib import Path

from relay.clients.speech.installed import HOW, choose_engine
from relay.core.program import version_of
from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, ok, skipped, warning
from relay.surfaces.cli.doctor.machine import shorten

NAME = "speech"
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{2,4})?")


def speech(given: Settings) -> Finding:
    """Checks the speech engine without importing it, which would take seconds and much memory."""
    setting, engine = given.speech_to_text, choose_engine(given.speech_to_text)
    if setting == "off":
        return skipped(NAME, "off (RELAY_STT)")
    if engine is None and setting == "auto":
        return skipped(NAME, f"voice notes are not transcribed; {HOW}")
    if engine is None:
        return warning(NAME, f"RELAY_STT is {setting}, which is not installed", f"{HOW[0].upper()}{HOW[1:]}.")
    place = Path(given.whisper_model).expanduser()
    file = place / "model.bin" if engine == "faster-whisper" else place
    if given.whisper_model.startswith(("/", ".", "~")) and not file.is_file():
        fix = "Set RELAY_WHISPER_MODEL to a folder with a model.bin (faster-whisper) or to a .pt file (openai-whisper)."
        return warning(NAME, f"{shorten(place)} is not a model for {engine}", fix)
    if given.speech_language and not LANGUAGE.fullmatch(given.speech_language):
        fix = "Set RELAY_STT_LANGUAGE to a code such as de. If it is empty, Relay detects the language."
        return warning(NAME, f"{given.speech_language} is not a language code", fix)
    return ok(NAME, f"{engine} {version_of(engine)}, model {given.whisper_model}")
