"""Speech to text: whether the engine is installed, and its model if that is a path."""

from __future__ import annotations

import re
from pathlib import Path

from relay.clients.speech.installed import HOW, chosen, version_of
from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, ok, skipped, warning
from relay.surfaces.cli.doctor.machine import short

NAME = "speech"
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{2,4})?")


def hearing(given: Settings) -> Finding:
    """The speech engine. Nothing of it is imported: that takes seconds, and much memory."""
    setting, engine = given.speech_to_text, chosen(given.speech_to_text)
    if setting == "off":
        return skipped(NAME, "voice notes are switched off (RELAY_STT)")
    if engine is None and setting == "auto":
        return skipped(NAME, f"voice notes are not heard; {HOW}")
    if engine is None:
        return warning(NAME, f"RELAY_STT is {setting}, which is not installed", f"{HOW}.")
    place = Path(given.whisper_model).expanduser()
    if given.whisper_model.startswith(("/", ".", "~")) and not _is_model(engine, place):
        fix = "For faster-whisper it is a folder with a model.bin, for openai-whisper a .pt file: RELAY_WHISPER_MODEL."
        return warning(NAME, f"{short(place)} is no model for {engine}", fix)
    if given.speech_language and not LANGUAGE.fullmatch(given.speech_language):
        fix = "RELAY_STT_LANGUAGE is a code such as de; empty, it is detected."
        return warning(NAME, f"{given.speech_language} is no language code", fix)
    return ok(NAME, f"{engine} {version_of(engine)}, model {given.whisper_model}")


def _is_model(engine: str, place: Path) -> bool:
    return (place / "model.bin").is_file() if engine == "faster-whisper" else place.is_file()
