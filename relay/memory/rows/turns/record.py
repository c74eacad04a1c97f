"""What went into a prompt, as it is stored with the turn. Records of earlier versions hold less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field

from relay.core.frozen import frozen


@frozen
class SortRecord:
    """Memories of one sort: how many were included, how many there are, and their tokens."""

    taken: int = 0
    known: int = 0
    tokens: int = 0


@frozen
class LayerRecord:
    """The prompt's layer of memories."""

    budget: int = 0
    """The layer's budget in tokens."""
    sorts: Mapping[str, SortRecord] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many memories were left out, by reason."""


@frozen
class MediaRecord:
    """Pictures and documents of the prompt."""

    shown: int = 0
    described: int = 0
    """How many were only described in words."""


@frozen
class ComposedRecord:
    """The composition that the conversation began with."""

    id: int
    parts: int = 0
    """How many of its sessions were included."""
    dropped: int = 0
    """How many of its sessions had no room."""


@frozen
class PreferenceNote:
    """Why a preference was left out of a prompt, or replaced another one."""

    type: str
    ids: tuple[int, ...] = ()
    """The preferences that it is about."""
    category: str | None = None
    """The type that had too many preferences."""
    dropped: int | None = None
    count: int | None = None


@frozen
class PromptRecord:
    """What went into a prompt. Numbers are the ids of rows, unless said otherwise."""

    soul: int | None = None
    """The soul's version; None: the record was dropped."""
    persona: int | None = None
    summary: int | None = None
    memories: tuple[int, ...] = ()
    dropped_memories: tuple[int, ...] = ()
    memory_layer: LayerRecord | None = None
    """None: there are no memories."""
    left_out_memories: int = 0
    """How many memories were left out."""
    recent: tuple[int, ...] = ()
    """The ids of the first and the last recent message; empty if there are none."""
    recent_count: int = 0
    dropped_recent: int = 0
    """How many recent messages had no room."""
    recalled: tuple[int, ...] = ()
    """The messages that were recalled."""
    recalled_memories: tuple[int, ...] = ()
    recalled_summaries: tuple[int, ...] = ()
    recalled_artefacts: tuple[str, ...] = ()
    """The other artefacts that were recalled, such as note:12."""
    bearing: tuple[int, ...] = ()
    """Memories that are relevant to the message, whether they were recalled or are in the prompt anyway."""
    share: float = 1.0
    """The part of the budget for recent messages that was used; less than 1: the model found the prompt too long."""
    lent: bool = False
    """The speaker's own memory was lent to the group."""
    media: MediaRecord | None = None
    composed: ComposedRecord | None = None
    tainted_by: tuple[str, ...] = ()
    """Which parts of the prompt have text that others wrote; `tool`: a tool returned it."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Estimated tokens by layer."""
    tools: tuple[str, ...] = ()
    learning: str = "on"
    """What the person chose: on, ask or off."""
    preferences: tuple[int, ...] = ()
    """Ids of the preferences in the prompt."""
    preference_notes: tuple[PreferenceNote, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Returns the record as it is stored."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value is not None and value is not False and value != ()
        }
