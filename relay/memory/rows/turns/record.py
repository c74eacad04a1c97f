"""What went into a prompt, as it is stored with the turn. Records of earlier versions hold less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class SortRecord:
    """Memories of one sort: how many went in, how many there are, and their tokens."""

    taken: int = 0
    known: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """The prompt's layer of memories."""

    budget: int = 0
    """Tokens."""
    sorts: Mapping[str, SortRecord] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Why memories were left out, with how many."""


@dataclass(frozen=True, slots=True)
class MediaRecord:
    """Pictures and documents of the prompt."""

    shown: int = 0
    described: int = 0
    """Only described in words."""


@dataclass(frozen=True, slots=True)
class PreferenceNote:
    """Why a preference was left out of a prompt, or put in another's place."""

    type: str
    ids: tuple[int, ...] = ()
    """The preferences that it is about."""
    category: str | None = None
    """The type of preferences of which there were too many."""
    dropped: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
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
    """How many."""
    recent: tuple[int, ...] = ()
    """The first and the last recent message; empty without any."""
    recent_count: int = 0
    dropped_recent: int = 0
    """How many recent messages had no room."""
    recalled: tuple[int, ...] = ()
    """Messages."""
    recalled_memories: tuple[int, ...] = ()
    recalled_summaries: tuple[int, ...] = ()
    recalled_artefacts: tuple[str, ...] = ()
    """Artefacts of other kinds, such as note:12."""
    bearing: tuple[int, ...] = ()
    """Memories that bear on the message, whether they were recalled or stand in the prompt anyway."""
    share: float = 1.0
    """The part of the budget for recent messages that was used; less than 1: the model found the prompt too long."""
    lent: bool = False
    """The speaker's own memory was lent to the group."""
    media: MediaRecord | None = None
    tainted_by: tuple[str, ...] = ()
    """Where the prompt has text that others wrote; `tool`: a tool returned it."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Estimated tokens by layer."""
    tools: tuple[str, ...] = ()
    learning: str = "on"
    """What the person chose: on, ask or off."""
    preferences: tuple[int, ...] = ()
    """Ids of what the person likes of answers."""
    preference_notes: tuple[PreferenceNote, ...] = ()

    def as_json(self) -> dict[str, object]:
        """As it is stored."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value is not None and value is not False and value != ()
        }
