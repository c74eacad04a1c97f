"""Sets up text to speech: a Microsoft service, Piper on this machine, or none."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

from relay.clients.speech.piper import trouble
from relay.surfaces.cli.setup.ask import pick, read_line, say, show_choices
from relay.surfaces.cli.setup.pip import install, install_commands
from relay.surfaces.cli.setup.sheet import DEFAULTS, VOICE, VOICE_FILE, Sheet

ENGINES = ("edge-tts", "piper", "off")
LABELS = (
    "With edge-tts, a Microsoft service that gets the text of each spoken answer",
    "With Piper, on this machine: 100 MB (GPL), and a voice of about 65 MB",
    "No",
)
PACKAGES = ("piper-tts>=1.3", "av>=14")
USUAL = "en_US-lessac-medium"
WHICH = "Which voice? Samples are at rhasspy.github.io/piper-samples"


def ask(sheet: Sheet) -> Sheet:
    """Asks for the engine, and installs Piper if it is chosen and missing."""
    if sheet.is_fixed(VOICE):
        return sheet
    present = ENGINES.index(sheet[VOICE] or DEFAULTS[VOICE])
    say("Relay can answer voice notes aloud, in addition to the text.")
    show_choices(LABELS)
    chosen = pick("Speak answers? ", present)
    engine = ENGINES[chosen]
    if engine == "piper" and trouble(sheet[VOICE_FILE]):
        return _fetch_piper(sheet)
    return sheet if chosen == present else sheet.with_answers({VOICE: engine})


def _fetch_piper(sheet: Sheet) -> Sheet:
    """Installs Piper and a voice, or prints how to. Sets the path of the voice either way."""
    name = read_line(f"{WHICH} [{USUAL}]: ") or USUAL
    folder = sheet.settings().data_dir / "voices"
    voice = folder / f"{name}.onnx"
    if not (install((PACKAGES,)) and _download(name, folder)) or trouble(str(voice)):
        say("That didn't work. To install it later, run this and restart Relay:")
        for command in (*install_commands((PACKAGES,)), f"{sys.executable} {' '.join(_fetch(name, folder))}"):
            print(f"  {command}")
    return sheet.with_answers({VOICE: "piper", VOICE_FILE: str(voice)})


def _download(name: str, folder: Path) -> bool:
    importlib.invalidate_caches()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return subprocess.run([sys.executable, *_fetch(name, folder)], check=False).returncode == 0  # noqa: S603 — our own words


def _fetch(name: str, folder: Path) -> tuple[str, ...]:
    return ("-m", "piper.download_voices", name, "--data-dir", str(folder))
