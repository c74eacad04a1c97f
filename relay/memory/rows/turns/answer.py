"""What a turn came to, as it is stored with the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from relay.memory.rows.changes import Failure, MemoryChange
from relay.memory.rows.choices import Choices, StoredChoices
from relay.memory.rows.turns.preferences import Preference


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn came to, stored: ready to be delivered."""

    text: str
    """Clean text for the chat (Markdown)."""
    changes: Sequence[MemoryChange] = ()
    """What memory did."""
    failed: Sequence[Failure] = ()
    """What memory was asked and did not do."""
    tools: tuple[str, ...] = ()
    note: str = ""
    retry: bool = False
    """Offer a Retry button."""
    web: bool = False
    """Offer to answer again with the web."""
    choices: StoredChoices = field(default_factory=Choices)
    """How the person who asked wants answers to be shown."""
    unlearned: bool = False
    """The model wanted to learn something, and learning is off."""
    withdrawn: Sequence[MemoryChange] = ()
    """What the answer in whose place this one is had done to memory, and was taken back with it."""
    model: str = ""
    """Who wrote it, when it is not the usual model."""
    warning: str = ""
    """A sentence about the budget of the person who asked."""
    aloud: bool = False
    """It is also to be said, as a voice note."""
    diagnostic: str = ""
    """What of memory went into it, for a reader who wants to see that."""
    signs: tuple[str, ...] = ()
    """What is to be said about memory and this conversation, as `relay.signs_of` names it."""
    other: str = ""
    """The second of two answers; empty: there is one."""
    order: str = ""
    """Of two answers: `ab`, or `ba` where the second is shown as A."""
    replaced: bool = False
    """It took the place of another answer, which can be brought back."""
    preferences: tuple[Preference, ...] = ()
    """What answers follow from now on, which the person has not been told yet."""
