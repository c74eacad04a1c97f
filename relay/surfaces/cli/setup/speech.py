"""Sets up speech to text, and offers to install an engine."""

from __future__ import annotations

import importlib
import shutil
import sys

from relay.clients.speech.installed import MODULES, choose_engine, is_installed
from relay.surfaces.cli.setup import aloud
from relay.surfaces.cli.setup.ask import pick, read_line, say, show_choices, use_environment
from relay.surfaces.cli.setup.pip import can_install, install, install_commands
from relay.surfaces.cli.setup.sheet import DEFAULTS, SPEECH, Sheet

DOING = "Looking for a speech engine"
TORCH = "https://download.pytorch.org/whl/cpu"
LITE = (("faster-whisper>=1.2,<2", "av>=14"),)
FULL = (("openai-whisper>=20250625", "av>=14"),)
FULL_ON_LINUX = (
    ("torch", "--index-url", TORCH),
    ("--no-deps", "openai-whisper>=20250625"),
    ("numba", "tiktoken", "tqdm", "more-itertools", "av>=14"),
)
"""On Linux, torch and openai-whisper would bring gigabytes for graphics cards."""


LABELS = {
    "off": "No",
    "faster-whisper": "With faster-whisper: 360 MB, and 350 MB of memory",
    "openai-whisper": "With openai-whisper: 1,200 MB, and 750 MB of memory",
}
ENGINES = tuple(LABELS)
ROOMY = 2.0
"""The free gigabytes from which setup proposes an engine."""
INTRODUCTION = (
    "Relay can transcribe voice notes on this machine. The first voice note downloads a model of 145 MB, in addition "
    "to the engine."
)


def check(sheet: Sheet) -> str:
    """Names the engine, or explains how to install one."""
    setting = sheet[SPEECH] or DEFAULTS[SPEECH]
    if engine := choose_engine(setting):
        return f"transcribed with {engine}"
    if setting == "off":
        return "not transcribed"
    wanted = next(iter(MODULES)) if setting == "auto" else setting
    return f"not transcribed yet; {wanted} is missing: {' && '.join(commands(wanted))}"


def ask(sheet: Sheet) -> Sheet:
    """Asks for an engine and installs it; then asks for text to speech.

    If nothing is installed, “No” leaves the setting empty, so that installing an engine later is enough.
    """
    if sheet.is_fixed(SPEECH):
        return use_environment(sheet, (SPEECH,), DOING, check)
    say(f"{INTRODUCTION} {free_gigabytes():,.0f} GB are free.")
    installed = [name for name in MODULES if is_installed(name)]
    show_choices(label + (" (installed)" if name in installed else "") for name, label in LABELS.items())
    present = _present(sheet)
    engine = ENGINES[pick("Transcribe them? ", present)]
    if engine == ENGINES[present]:
        new = sheet
    elif engine == "off" and not installed:
        new = sheet.with_answers({SPEECH: ""})
    else:
        new = sheet.with_answers({SPEECH: engine})
    if engine == "off":
        return new
    if not is_installed(engine):
        _install(engine)
    return aloud.ask(new)


def free_gigabytes() -> float:
    """Returns the free space for packages, in gigabytes."""
    return shutil.disk_usage(sys.prefix).free / 1e9


def _present(sheet: Sheet) -> int:
    """Returns the index of the proposed choice: the present engine; if there is none and enough room, the smaller
    one."""
    setting = sheet[SPEECH] or DEFAULTS[SPEECH]
    engine = setting if setting in MODULES else choose_engine(setting) or "off"
    if engine == "off" and setting == "auto" and can_install() and free_gigabytes() >= ROOMY:
        engine = "faster-whisper"
    return ENGINES.index(engine)


def _install(engine: str) -> None:
    """Installs an engine if possible and wanted, or prints how to."""
    if can_install() and read_line("Install it now? [Y/n] ").lower() in ("", "y", "yes"):
        install(_steps(engine))
        importlib.invalidate_caches()
        if is_installed(engine):
            say("Installed.")
            return
        say("That didn't work.")
    say("To install it later, run this and restart Relay:")
    for command in commands(engine):
        print(f"  {command}")


def commands(engine: str) -> list[str]:
    """Returns the commands that install an engine, for a person to type."""
    return install_commands(_steps(engine))


def _steps(engine: str) -> tuple[tuple[str, ...], ...]:
    if engine == "faster-whisper":
        return LITE
    return FULL_ON_LINUX if sys.platform == "linux" else FULL
