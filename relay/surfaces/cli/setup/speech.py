"""Sets up speech to text, and offers to install an engine."""

from __future__ import annotations

import importlib
import shutil
import sys
from typing import NamedTuple

from relay.clients.speech.installed import MODULES, chosen, is_installed
from relay.surfaces.cli.setup import aloud
from relay.surfaces.cli.setup.ask import from_environment, say, typed
from relay.surfaces.cli.setup.pip import has_pip, install, installing
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


class Choice(NamedTuple):
    """An engine and its label."""

    engine: str
    label: str


CHOICES = (
    Choice("off", "No"),
    Choice("faster-whisper", "With faster-whisper, the lighter: 360 MB, and 350 MB of memory"),
    Choice("openai-whisper", "With openai-whisper, the original: 1,200 MB, 750 MB of memory"),
)
ROOMY = 2.0
"""The free gigabytes from which setup proposes an engine."""
INTRODUCTION = (
    "Relay can listen to voice notes, on this machine. Besides what is installed, a model of 145 MB is downloaded with "
    "the first one."
)


def check(sheet: Sheet) -> str:
    """Names the engine, or says how to get one."""
    setting = sheet[SPEECH] or DEFAULTS[SPEECH]
    if engine := chosen(setting):
        return f"heard with {engine}"
    if setting == "off":
        return "not heard"
    wanted = next(iter(MODULES)) if setting == "auto" else setting
    return f"not heard yet; {wanted} is missing: {' && '.join(commands(wanted))}"


def ask(sheet: Sheet) -> Sheet:
    """Asks with what, and installs it; then what says answers aloud.

    No, where nothing is installed, leaves the setting: a later installation is then all that it takes.
    """
    if sheet.fixed(SPEECH):
        return from_environment(sheet, (SPEECH,), DOING, check)
    say(f"{INTRODUCTION} {free_gigabytes():,.0f} GB are free here.")
    for number, choice in enumerate(CHOICES, 1):
        print(f"  {number}  {choice.label}{' (installed)' if is_there(choice.engine) else ''}")
    present = _present(sheet)
    answer = ""
    numbers = [str(number) for number in range(1, len(CHOICES) + 1)]
    while answer not in numbers:
        answer = typed(f"Listen? {', '.join(numbers[:-1])} or {numbers[-1]} [{present}]: ") or str(present)
    engine = CHOICES[int(answer) - 1].engine
    if int(answer) == present:
        new = sheet
    elif engine == "off" and not any(map(is_installed, MODULES)):
        new = sheet.having({SPEECH: ""})
    else:
        new = sheet.having({SPEECH: engine})
    if engine == "off":
        return new
    if not is_installed(engine):
        _install(engine)
    return aloud.ask(new)


def free_gigabytes() -> float:
    """Returns the free space for packages, in gigabytes."""
    return shutil.disk_usage(sys.prefix).free / 1e9


def is_there(engine: str) -> bool:
    """Whether a choice needs no installation."""
    return engine in MODULES and is_installed(engine)


def _present(sheet: Sheet) -> int:
    """The number of what is proposed: what would happen with the settings as they are; the lighter engine where nothing
    hears yet and there is room for it."""
    setting = sheet[SPEECH] or DEFAULTS[SPEECH]
    engine = setting if setting in MODULES else chosen(setting) or "off"
    if engine == "off" and setting == "auto" and has_pip() and free_gigabytes() >= ROOMY:
        engine = "faster-whisper"
    return 1 + [choice.engine for choice in CHOICES].index(engine)


def _install(engine: str) -> None:
    """Installs an engine if possible and wanted, or says how to."""
    if has_pip() and typed("Install it now? [Y/n] ").lower() in ("", "y", "yes"):
        install(_steps(engine))
        importlib.invalidate_caches()
        if is_installed(engine):
            say("Installed.")
            return
        say("That did not work.")
    say("When you want it, run this, then start Relay anew:")
    for command in commands(engine):
        print(f"  {command}")


def commands(engine: str) -> list[str]:
    """What installs an engine, as a person types it."""
    return installing(_steps(engine))


def _steps(engine: str) -> tuple[tuple[str, ...], ...]:
    if engine == "faster-whisper":
        return LITE
    return FULL_ON_LINUX if sys.platform == "linux" else FULL
