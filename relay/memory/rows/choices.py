"""A person's own settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import PlainValidator

from relay.core.frozen import frozen

VOICES = ("auto", "always", "never")
"""The values of `voice`: when answers are also spoken."""
VALUES: dict[str, tuple[str, ...]] = {"learning": ("on", "ask", "off"), "voice": VOICES}
"""The settings that have certain values only."""


@frozen
class Choices:
    """A person's own settings, from /settings."""

    learning: str = "on"
    """on; ask: each memory waits for their tap; off: nothing is learned."""
    sound: bool = True
    """Answers make a sound."""
    previews: bool = False
    """Links in answers show a preview."""
    tools: bool = True
    """Answers say which tools were used."""
    zone: str = ""
    """An IANA name; empty: the installation's zone."""
    voice: str = "auto"
    """auto: voice notes are answered aloud too; always: everything is; never."""
    diagnostics: bool = False
    """Answers list, collapsed, the memories they used."""
    reactions: bool = False
    """A ✍ on a message proposes to keep it."""
    keep: bool = True
    """Answers have a ◆ that proposes to keep them."""
    tags: bool = False
    """Answers have a 🏷 to say what was good or bad about them."""
    compare: bool = False
    """An answer that was given again asks which of the two is better."""

    @classmethod
    def from_stored(cls, row: Mapping[str, object] | None) -> Choices:
        """Reads stored settings. Missing or unknown values count as not set."""
        usual = cls()
        known: dict[str, Any] = {}
        for one in fields(cls):
            value = (row or {}).get(one.name)
            if type(value) is type(getattr(usual, one.name)) and value in VALUES.get(one.name, (value,)):
                known[one.name] = value
        return replace(usual, **known)

    def limit_to(self, capture: str) -> Choices:
        """Limits learning to what the installation's `RELAY_CAPTURE` (auto, ask or off) allows."""
        if capture == "off" or (capture == "ask" and self.learning == "on"):
            return replace(self, learning=capture)
        return self

    def zone_or(self, services: tzinfo) -> tzinfo:
        """Returns the person's own time zone, or `services` (the installation's) if they set none."""
        try:
            return ZoneInfo(self.zone) if self.zone else services
        except (ValueError, LookupError, OSError):
            return services


StoredChoices = Annotated[Choices, PlainValidator(Choices.from_stored)]
"""Choices as a field of a row."""
