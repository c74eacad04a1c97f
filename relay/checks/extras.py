"""What may be installed besides, and is not needed."""

from __future__ import annotations

from importlib import metadata

from relay.checks.finding import Finding, skipped

ENGINES = ("faster-whisper", "openai-whisper", "piper-tts", "edge-tts")
"""Packages that hear or speak."""


def extras() -> Finding:
    """The speech engines that are installed. This version uses none of them."""
    found = []
    for name in ENGINES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return skipped("speech", f"not used by this version (installed: {', '.join(found) or 'no engine'})")
