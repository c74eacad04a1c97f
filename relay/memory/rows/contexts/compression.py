"""What a version is made from, and what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from relay.core.frozen import frozen
from relay.memory.rows.contexts.versions import First, VersionRow


@frozen(kw_only=True)
class SourceUnit:
    """A message, or a row of another version, from which a version is made."""

    first: Annotated[int, Field(alias="from_id")]
    """The first message that it covers; `through` is the last."""
    through: Annotated[int, Field(alias="through_id")]
    role: str
    text: str
    at: datetime
    name: str | None = None
    user_id: int | None = None
    untrusted: bool = False
    """Others wrote some of it."""
    tainted: bool = False
    keepit: int | None = None
    """The id of the marker whose passage this row holds word for word; None: it isn't such a row."""
    mark: str | None = None
    """What tells its author apart from namesakes."""

    @property
    def own(self) -> bool:
        """Tells whether it is the person's own words."""
        return self.role == "user" and not self.untrusted


@frozen
class MarkerFate:
    """A marker that was not removed, and whether it survives."""

    id: int
    message_id: int
    weight: Decimal
    content: str
    role: str
    at: datetime
    threshold: Decimal
    survived: bool

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_store_version` takes."""
        return {"id": self.id, "threshold": str(self.threshold), "survived": self.survived}


@frozen(kw_only=True)
class CompressionWork:
    """The task of a job that makes a version."""

    id: int
    session_id: int
    thread_id: int
    space_id: int
    user_id: int | None
    """The person whose budget pays; None: the space owner's."""
    settings: Mapping[str, Any]
    source_id: int | None
    """The version that it is made from; None: the messages."""
    through: int | None
    """The last message that this version covers."""
    read_at: datetime
    """When the messages were read."""
    units: tuple[SourceUnit, ...]


@frozen(kw_only=True)
class NewVersion:
    """A version to be stored."""

    rows: tuple[VersionRow, ...]
    label: str
    inputs: tuple[str, ...]
    input_tokens: int
    input_messages: int
    fates: tuple[MarkerFate, ...]
    model: str | None
    usage: Mapping[str, int]
    derivation: Mapping[str, object]
    tainted: bool


@frozen
class WrittenRow:
    """A row as a model wrote it. `through`: the number (from 1) of the last message of the chunk that it covers."""

    role: str
    text: str
    through: int


@frozen
class WrittenChunk:
    """A chunk as a model compressed it."""

    rows: tuple[WrittenRow, ...]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)


@frozen
class OutlineUnit:
    """A message without its text, or a row of a version, which covers several."""

    first: First
    through: int
    role: str
    tokens: int
    keepit: int | None = None


@frozen(kw_only=True)
class SessionOutline:
    """What a version of a session would be made from, without texts."""

    id: int
    thread_id: int
    title: str | None
    present: bool
    distance: int
    preset: str
    """The space's default preset. The next two fields are defaults of the space too."""
    decays: bool
    model: str
    source: str | None
    """The name of the version to start from."""
    source_through: int | None
    """The last message that the version to start from covers."""
    units: tuple[OutlineUnit, ...]

    @property
    def tokens(self) -> int:
        return sum(unit.tokens for unit in self.units)
