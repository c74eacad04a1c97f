"""The result of a turn, as it is stored with the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from decimal import Decimal

from relay.core.frozen import frozen
from relay.memory.rows.changes import Failure, MemoryChange
from relay.memory.rows.choices import Choices, StoredChoices
from relay.memory.rows.proactive.reminders import Reminder
from relay.memory.rows.turns.preferences import Preference


@frozen
class Answer:
    """The stored result of a turn, ready to be delivered."""

    text: str
    """Clean text for the chat (Markdown)."""
    changes: Sequence[MemoryChange] = ()
    """The changes of memory."""
    failed: Sequence[Failure] = ()
    """The requests to memory that were not carried out."""
    tools: tuple[str, ...] = ()
    note: str = ""
    retry: bool = False
    """The answer offers a Retry button."""
    web: bool = False
    """The answer offers to answer again with the web."""
    choices: StoredChoices = field(default_factory=Choices)
    """How the person who asked wants answers to be shown."""
    resting: bool = False
    """Memory was off or paused."""
    unlearned: bool = False
    """The model wanted to learn something, and learning is off."""
    withdrawn: Sequence[MemoryChange] = ()
    """The changes of memory that the replaced answer had made, which were taken back with it."""
    model: str = ""
    """The model that wrote it, if it is not the usual one."""
    warning: str = ""
    """A sentence about the budget of the person who asked."""
    aloud: bool = False
    """The answer is also sent as a voice note."""
    diagnostic: str = ""
    """Which memories went into it, for readers who want to see that."""
    signs: tuple[str, ...] = ()
    """Signs about memory and this conversation to show with the answer, as `relay.signs_of` names them."""
    tainted_by: tuple[str, ...] = ()
    """Where its prompt had others' words, as in a `PromptRecord`."""
    other: str = ""
    """The second of two answers; empty: there is only one."""
    order: str = ""
    """The order of two answers: `ab`, or `ba` if the second is shown as A."""
    replaced: bool = False
    """It replaced another answer, which can be brought back."""
    kept: tuple[Decimal, ...] = ()
    """The weights of the message's markers that were added to the registry."""
    before: int | None = None
    """The turn that answered the same message before, if the person is asked which answer is better."""
    reasons: bool = False
    """It was chosen, and the person can give reasons for that."""
    preferences: tuple[Preference, ...] = ()
    """Preferences that answers follow from now on and that the person has not been told about."""
    reminders: tuple[Reminder, ...] = ()
    """Reminders that were set or changed while it was written."""
