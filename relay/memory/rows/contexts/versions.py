"""Versions: what is stored, and what people see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from relay.core.frozen import frozen
from relay.core.text import join_names, pluralize

First = Annotated[int, Field(alias="from")]


@frozen(kw_only=True)
class VersionRow:
    """A row of a version, which covers one or several messages."""

    role: str
    text: str
    at: datetime
    first: First
    through: int
    kept: bool = False
    """The row is a passage kept word for word."""
    weight: Decimal | None = None
    """The weight of the marker that kept it. `keepit` is that marker's id."""
    keepit: int | None = None

    def as_json(self) -> dict[str, object]:
        """Returns the row as it is stored and downloaded."""
        row: dict[str, object] = {
            "role": self.role,
            "text": self.text,
            "at": self.at.isoformat(),
            "from": self.first,
            "through": self.through,
        }
        if self.kept:
            row["kept"] = True
        if self.keepit is not None:
            row |= {"weight": float(self.weight or 0), "keepit": self.keepit}
        return row


@frozen
class KeepitCounts:
    """A version's markers in numbers; `weights` has the weights of all of them."""

    preserved: int = 0
    summarized: int = 0
    weights: Mapping[str, int] = field(default_factory=dict)


@frozen
class Since:
    """What a version lacks that its session now has."""

    messages: int = 0
    changes: int = 0
    """Messages that it was made from and that were edited or replaced."""
    markers: int = 0

    @property
    def told(self) -> str:
        """Returns it in words; empty: the version lacks nothing."""
        parts = [
            pluralize(number, what)
            for number, what in ((self.messages, "message"), (self.changes, "change"), (self.markers, "marker"))
            if number
        ]
        return join_names(parts)


@frozen(kw_only=True)
class Version:
    """A version without its rows."""

    id: int
    session_id: int
    title: str | None
    number: int
    name: str
    settings: Mapping[str, Any]
    status: Literal["due", "ready", "failed"]
    error: str | None
    source_id: int | None
    source: str | None
    input_tokens: int
    input_messages: int
    output_tokens: int | None
    output_messages: int | None
    ratio: Decimal | None
    keepit: KeepitCounts
    model: str | None
    tainted: bool
    created_at: datetime
    last_used_at: datetime | None
    done: int | None = None
    """While the version is being made, how many of its chunks are done. `total` is how many there are."""
    total: int | None = None
    since: Since = Since()
    """What was said, changed and marked in the session after it was made."""
    tells: bool = False
    """The bot says in the chat when it is ready."""
    compositions: tuple[str, ...] = ()
    """The names of the compositions that hold it."""
    active: bool = False
    """A session that has not ended uses one of these compositions."""

    @property
    def tokens(self) -> int:
        return self.output_tokens or 0

    @property
    def short(self) -> str:
        """The short form of its name, which doesn't say how it was made: v002."""
        return f"v{self.number:03}"


@frozen
class VersionPage:
    """A page of a session's versions, newest first."""

    total: int
    versions: tuple[Version, ...]


@frozen
class OpenedVersion:
    """A version with some of its rows."""

    version: Version
    rows: tuple[VersionRow, ...]
    left_out: int
    """How many messages of its range have no row."""

    @property
    def text(self) -> str:
        return "\n".join(row.text for row in self.rows)


@frozen
class LeftMessage:
    """A message that a version left out."""

    id: int
    at: datetime
    role: str
    name: str | None
    text: str
    """The beginning of the message."""
    kept: bool
    """The message has a marker now."""


@frozen
class LeftOut:
    """A page of the messages that a version left out, oldest first."""

    total: int
    messages: tuple[LeftMessage, ...]


@frozen
class HoldingComposition:
    """A composition that holds a version that was to be pruned."""

    id: int
    name: str
    active: bool
    """A running session began with it."""


@frozen
class Pruned:
    """The result of pruning. Nothing is pruned if any version is missing or active."""

    pruned: tuple[Version, ...]
    missing: tuple[int, ...]
    active: tuple[str, ...]
    """The names of versions that running sessions use."""
    held: tuple[HoldingComposition, ...] = ()
    """If any are active: all compositions that hold the versions."""


@frozen
class RestoredVersion:
    """A version that was brought back."""

    id: int
    name: str


@frozen
class LoneMarker:
    """A marker that only one of two versions kept."""

    id: int
    weight: float
    content: str


@frozen
class ComparedVersions:
    """Two versions side by side."""

    a: OpenedVersion
    b: OpenedVersion
    only_a: tuple[LoneMarker, ...]
    only_b: tuple[LoneMarker, ...]
