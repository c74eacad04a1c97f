"""Memories: in lists, opened, and their origins."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from relay.core.frozen import frozen
from relay.core.models import Space


@frozen
class MemoryLine:
    """A memory in a list."""

    id: int
    number: int
    """The visible number, counting from 1 in each space."""
    kind: Literal["fact", "preference", "decision", "event", "person", "goal", "feeling", "learning"]
    content: str
    status: Literal["active", "pending", "superseded", "archived", "forgotten", "discarded"]
    created_at: datetime
    subject: str | None = None
    subject_id: int | None = None
    category: str | None = None
    """A learning's category: identity, knowledge or operational."""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    valid_until: datetime | None = None
    tainted: bool = False
    """It was learned together with other people's words."""
    promoted_by: int | None = None


@frozen
class ListedMemory(MemoryLine):
    """A memory in a list, with what the person who reads it may do."""

    session: str | None = None
    """The title of the conversation it was learned in, if that belongs to the same space."""
    yours: bool = False
    """They may change it."""
    editable: bool = False
    """They may reword it, in its present state."""


@frozen
class MemoryFilter:
    """Filters for a list of memories; all that are set must hold."""

    kind: str | None = None
    facts: bool = False
    """Only facts: all kinds but learnings."""
    category: str | None = None
    pinned: bool = False
    unconfirmed: bool = False
    """Only memories that nobody has confirmed."""
    subject_id: int | None = None
    words: str | None = None
    """Only those with all of these words."""
    past: bool = False
    """Archived or replaced memories instead of the active ones."""
    pending: bool = False
    """Memories that wait for a tap instead of the active ones."""

    def as_json(self) -> dict[str, object]:
        """Returns what is set, as `relay_list_memories` takes it."""
        return {name: value for name, value in asdict(self).items() if value}


@frozen
class Subject:
    """A person that a group has memories about."""

    id: int
    name: str | None
    memories: int


@frozen
class MemoryPage:
    """A page of memories, newest first, with totals."""

    total: int
    facts: int
    learnings: int
    pinned: int
    past: int
    """How many memories are archived or replaced."""
    pending: int
    """How many changes wait for a tap."""
    matching: int
    """How many memories match the filter, on all pages."""
    offset: int
    categories: dict[str, int]
    """The number of learnings by category."""
    kinds: dict[str, int]
    """The number of facts by kind."""
    people: tuple[Subject, ...]
    memories: tuple[ListedMemory, ...]
    space_id: int | None = None
    """None: nothing was ever said in that space."""
    unconfirmed: int = 0
    """How many memories nobody has confirmed."""


@frozen
class LastChange:
    """The last change of a memory, if it can be undone."""

    id: int
    action: str


@frozen(kw_only=True)
class OpenedMemory(MemoryLine):
    """A memory in full, in any state."""

    space: Space
    space_id: int
    by: str | None = None
    """What made it: user (explicit), promoted (a kept message), tag, or a derivation."""
    updated_at: datetime
    importance: int = 5
    """1 to 10."""
    confidence: float = 1.0
    validated_at: datetime | None = None
    """When a person confirmed it."""
    valid_from: datetime | None = None
    uses: int = 0
    last_used_at: datetime | None = None
    replaced_by: int | None = None
    replaced_number: int | None = None
    evidence: int | None = None
    """How many messages said it."""
    faded: bool = False
    """Nothing has confirmed it for half a year."""
    last: LastChange | None = None
    """The last change, if this person may undo it."""


@frozen
class ForeignWords:
    """Other people's words in a message."""

    kind: str | None
    author: Annotated[str | None, Field(validation_alias="from")] = None


@frozen
class QuotedMessage:
    """A message as quoted to a person who may see its space."""

    role: Literal["user", "assistant"]
    at: datetime
    text: str
    name: str | None = None
    user_id: int | None = None
    foreign: tuple[ForeignWords, ...] = ()


@frozen
class Posted:
    """A message in a chat."""

    chat_id: int
    message_id: int | None


@frozen
class SourceReply:
    """What the message that taught a memory replied to."""

    own: bool = True
    """The same person or the assistant wrote it."""
    by: str | None = None


@frozen
class MemorySource:
    """A memory's origin."""

    elsewhere: bool
    """It was said in another space, so none of it is shown."""
    at: datetime
    said: QuotedMessage | None = None
    answer: QuotedMessage | None = None
    tools: tuple[str, ...] | None = None
    """The tools that the answer used."""
    reply_to: SourceReply | None = None
    chat_id: int | None = None
    """0: the terminal; None: unknown."""
    topic_id: int | None = None
    topic: str | None = None
    """Its name; in a group without topics, the group's."""
    posted: Posted | None = None


@frozen
class KeepableMessage:
    """A message that someone may want to keep as a memory."""

    text: str
    untrusted: bool
    private: bool
    """It is off the record."""
    id: int | None = None
    """None: the message is not stored here."""
    role: str | None = None
    name: str | None = None
    question: str | None = None
    """What it answers; None: it isn't an answer."""
    documents: str | None = None
    """The beginning of the text of its documents; None: it has none."""


@frozen
class MatchingMemory:
    """A memory that matches a pattern."""

    number: int
    content: str
    subject: str | None = None


@frozen
class ForgetPreview:
    """What a pattern would forget, with the newest ten."""

    total: int
    memories: tuple[MatchingMemory, ...]


@frozen
class ForgetProgress:
    """Progress of forgetting many memories."""

    done: int
    """Memories forgotten or restored so far."""
    left: bool
    """Some memories are left: the call must be repeated."""
