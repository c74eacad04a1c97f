"""Why an answer came out as it did."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from relay.core.frozen import frozen
from relay.core.models import Space
from relay.memory.rows.turns.preferences import Preference
from relay.memory.rows.turns.record import PromptRecord


def read_record(value: object, read: ValidatorFunctionWrapHandler) -> PromptRecord:
    """Returns a stored record. One that this version cannot read counts as dropped."""
    try:
        record: PromptRecord = read(value)
    except ValidationError:
        return PromptRecord()
    return record


@frozen
class TokenUsage:
    """Tokens that the model's server counted."""

    input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    output_tokens: int | None = 0
    web_search_requests: int | None = 0

    @property
    def cached(self) -> int:
        """Returns the tokens that were read from the cache."""
        return self.cache_read_input_tokens or 0

    @property
    def written(self) -> int:
        """Returns the tokens that were written to the cache."""
        return self.cache_creation_input_tokens or 0

    @property
    def asked(self) -> int:
        """Returns the total of input tokens."""
        return (self.input_tokens or 0) + self.cached + self.written


@frozen
class KnownFact:
    """A memory that was in the prompt, as it is now."""

    id: int
    number: int
    kind: str
    subject: str | None
    content: str
    """At most 300 characters, as in the other texts here."""
    status: str
    lent: bool
    """It comes from the space of the person who asks; they lent it to the group."""


@frozen
class DatedText:
    """A text, and when it was written."""

    text: str
    at: datetime


@frozen
class RecalledMessage:
    """A message that was recalled."""

    role: str
    name: str | None
    text: str
    at: datetime


@frozen
class RecalledMemory:
    """A memory that was recalled."""

    number: int
    content: str


@frozen
class RecalledArtefact:
    """An artefact that was recalled."""

    kind: str
    id: int
    text: str
    at: datetime


@frozen
class Explanation:
    """What went into an answer, as far as a person may see it."""

    turn_id: int
    space: Space
    at: datetime | None
    model: str | None
    usage: TokenUsage
    tainted: bool
    """The prompt has text that others wrote."""
    prompt: Annotated[PromptRecord, WrapValidator(read_record)]
    persona: str | None
    memories: tuple[KnownFact, ...]
    hidden: int
    """How many memories in the prompt other people lent to the group."""
    summary: DatedText | None
    recalled: tuple[RecalledMessage, ...]
    recalled_memories: tuple[RecalledMemory, ...]
    recalled_summaries: tuple[DatedText, ...]
    recalled_artefacts: tuple[RecalledArtefact, ...]
    tool_calls: int
    recent_from: datetime | None
    """When the first of the recent messages was written."""
    resting: bool = False
    """Memory was off or paused."""
    signs: tuple[str, ...] = ()
    """What the answer said about memory; `reworded`: its message was edited since."""
    composed: str | None = None
    """The name of the composition that the conversation began with."""
    preferences: tuple[Preference, ...] = ()
    """How this person likes answers: the preferences that were in the prompt."""
    cost: float | None = None
    """The price in dollars; None: the model's price is unknown."""
