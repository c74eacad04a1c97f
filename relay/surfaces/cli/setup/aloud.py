"""What says answers to voice notes aloud: a service of Microsoft's, Piper on this machine, or nothing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

from relay.clients.speech.piper import trouble
from relay.surfaces.cli.setup.ask import say, typed
from relay.surfaces.cli.setup.pip import install, installing
from relay.surfaces.cli.setup.sheet import DEFAULTS, VOICE, VOICE_FILE, Sheet

ENGINES = ("edge-tts", "piper", "off")
LABELS = (
    "With edge-tts, a service of Microsoft's: the text of the answer goes there",
    "With Piper, on this machine: 100 MB (GPL), and a voice of about 65 MB",
    "No",
)
PACKAGES = ("piper-tts>=1.3", "av>=14")
USUAL = "en_US-lessac-medium"
WHICH = "Which voice? All are heard at rhasspy.github.io/piper-samples"


def ask(sheet: Sheet) -> Sheet:
    """Asks what says answers aloud, and fetches Piper where that is wanted and missing."""
    if sheet.fixed(VOICE):
        return sheet
    present = 1 + ENGINES.index(sheet[VOICE] or DEFAULTS[VOICE])
    say("A voice note is answered aloud too, besides the text.")
    for number, label in enumerate(LABELS, 1):
        print(f"  {number}  {label}")
    answer = ""
    while answer not in ("1", "2", "3"):
        answer = typed(f"Say answers aloud? 1, 2 or 3 [{present}]: ") or str(present)
    engine = ENGINES[int(answer) - 1]
    if engine == "piper" and trouble(sheet[VOICE_FILE]):
        return _fetched(sheet)
    return sheet if int(answer) == present else sheet.having({VOICE: engine})


def _fetched(sheet: Sheet) -> Sheet:
    """Installs Piper with a voice, or says how; the settings name where the voice is or will be."""
    name = typed(f"{WHICH} [{USUAL}]: ") or USUAL
    folder = sheet.settings().data_dir / "voices"
    voice = folder / f"{name}.onnx"
    if not (install((PACKAGES,)) and _download(name, folder)) or trouble(str(voice)):
        say("That did not work. When you want it, run this, then start Relay anew:")
        for command in (*installing((PACKAGES,)), f"{sys.executable} {' '.join(_fetch(name, folder))}"):
            print(f"  {command}")
    return sheet.having({VOICE: "piper", VOICE_FILE: str(voice)})


def _download(name: str, folder: Path) -> bool:
    importlib.invalidate_caches()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return subprocess.run([sys.executable, *_fetch(name, folder)], check=False).returncode == 0  # noqa: S603 — our own words


def _fetch(name: str, folder: Path) -> tuple[str, ...]:
    return ("-m", "piper.download_voices", name, "--data-dir", str(folder))
