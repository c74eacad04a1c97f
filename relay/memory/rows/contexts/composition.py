"""Compositions, which put versions of several sessions together, and what somebody has chosen while composing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime
from typing import Any, Literal

from relay.core.frozen import frozen
from relay.core.limits import COMPOSED_BUDGET
from relay.memory.rows.contexts.versions import Since

Strategy = Literal["equal", "recency", "proportional"]
Format = Literal["markdown", "jsonl", "both"]
Status = Literal["making", "ready", "over", "failed"]


@frozen
class ComposedRow:
    """A row of a composition's text."""

    role: str
    """user, assistant, or heading, with which a part begins."""
    text: str
    at: datetime | None = None
    kept: bool = False
    """A marker kept these words as somebody wrote them."""
    weight: float | None = None
    """The weight of that marker."""


@frozen
class PartAsked:
    """What was asked for one session. With no field set, the version that fits best is used."""

    version: str | None = None
    """original, new, or a version's name."""
    allocation: int | None = None
    """The part's budget in tokens; None: its share of the composition's."""
    recompress: Mapping[str, Any] | None = None
    """The complete settings of a new version."""


@frozen
class VersionSize:
    """The size of a version that a session has."""

    id: int
    name: str
    tokens: int
    ratio: float | None = None


@frozen(kw_only=True)
class ComposedPart:
    """A session in a composition, or in the plan of one."""

    session_id: int
    title: str | None
    words: str | None
    """The beginning of the session's first message."""
    first: datetime | None
    """When that message was written."""
    version: str
    """original, new (in a plan), or the version's name, which stays when the version is gone."""
    tokens: int | None = None
    """Tokens of the part; in a plan, of the whole session."""
    messages: int | None = None
    allocation: int | None = None
    asked: PartAsked = PartAsked()
    reason: str | None = None
    """Why this version was chosen: asked, fits, best or new."""
    gone: bool = False
    """Its version was pruned."""
    due: bool = False
    """Its version is being made."""
    since: Since = Since()
    """What its version lacks of the session by now."""
    estimate: int = 0
    """In a plan, about how many tokens the part takes."""
    versions: tuple[VersionSize, ...] = ()
    """In a plan, the versions to choose from."""


@frozen
class Composition:
    """Several sessions' versions together."""

    id: int
    name: str
    budget: int
    strategy: Strategy
    format: Format
    status: Status
    error: str | None
    """Why it failed; None: it did not."""
    total_tokens: int | None
    total_messages: int | None
    tainted: bool
    """It has text that others wrote."""
    created_by: int
    created_at: datetime
    chat_id: int
    topic_id: int
    used: int
    """How many sessions began with this composition."""
    active: int
    """How many of those sessions are running now."""
    parts: tuple[ComposedPart, ...]
    used_in: tuple[int, ...] = ()
    """The ids of those sessions, at most the newest hundred."""
    thread_id: int = 0
    tells: bool = False
    """The bot says in the chat when it is ready."""
    confirm: bool = True
    """A person is asked for confirmation before it is dropped."""
    rows: tuple[ComposedRow, ...] | None = None
    """The rows of its text; None: not made yet, or not requested."""

    @property
    def over(self) -> int:
        """Returns by how many tokens it is above its budget."""
        return max(0, (self.total_tokens or 0) - self.budget)

    @property
    def by_time(self) -> bool:
        """Tells whether its parts are ordered from the oldest to the newest."""
        began = [part.first for part in self.parts if part.first is not None]
        return began == sorted(began)


@frozen
class CompositionPage:
    """A page of compositions, this conversation's first."""

    total: int
    compositions: tuple[Composition, ...]


@frozen
class CompositionPlan:
    """What composing would do."""

    budget: int
    strategy: Strategy
    total: int
    """About how many tokens the composition would have."""
    new: int
    """How many versions would have to be made first."""
    parts: tuple[ComposedPart, ...]


@frozen
class Refusal:
    """Why nothing was composed, used or planned."""

    refused: str
    """A code of `relay_compose` or `relay_use_composition`."""
    what: str | None = None
    """The name that the refusal is about."""
    session: str | None = None
    over: int | None = None


@frozen
class ComposableSession:
    """A session that can be a part of a composition."""

    id: int
    title: str | None
    words: str | None
    first: datetime
    last: datetime
    messages: int
    tokens: int
    versions: int
    """How many versions the session has."""
    here: bool
    """The session belongs to this conversation."""


@frozen
class ComposableSessions:
    """A page of such sessions, the most recently used first."""

    total: int
    sessions: tuple[ComposableSession, ...]


@frozen
class DroppedComposition:
    """A composition that was dropped."""

    name: str
    active: int
    """How many running sessions keep it until they end."""


@frozen
class Draft:
    """What somebody has chosen so far while composing."""

    name: str
    budget: int = COMPOSED_BUDGET
    strategy: Strategy = "equal"
    everywhere: bool = False
    """Sessions of all conversations are listed."""
    parts: dict[int, PartAsked] = field(default_factory=dict)
    """What is asked for each session, by its id."""
    order: tuple[int, ...] = ()
    """The ids of the sessions that somebody put in order; empty: all are ordered by time."""
    replaces: int | None = None
    """The id of the composition that is changed."""

    @property
    def in_order(self) -> bool:
        """Tells whether the parts are in the chosen order, not ordered by time."""
        return bool(self.order)


@frozen
class ComposeRequest:
    """A request to compose."""

    name: str
    parts: tuple[tuple[int, PartAsked], ...]
    """The ids of the sessions, and what is asked for each."""
    budget: int = COMPOSED_BUDGET
    strategy: Strategy = "equal"
    format: Format | None = None
    """None: both formats, or that of the replaced composition."""
    in_order: bool = False
    """The parts stay in the given order, not ordered by time."""
    replaces: int | None = None
    """The id of the composition that is made again."""

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_compose` takes."""
        parts = [{"session_id": session_id, **asdict(asked)} for session_id, asked in self.parts]
        return {**asdict(self), "order": "given" if self.in_order else "time", "parts": parts}
