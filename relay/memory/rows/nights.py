"""What nights do with memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many memories a night, or a person's word about it, took out of use."""

    merged: int = 0
    superseded: int = 0
    archived: int = 0
