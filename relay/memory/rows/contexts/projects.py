"""Projects: each is a thread, seen as a library of sessions."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from relay.core.frozen import frozen
from relay.core.models import Space
from relay.memory.rows.contexts.composition import Composition
from relay.memory.rows.contexts.markers import Keepit
from relay.memory.rows.contexts.versions import Version
from relay.memory.rows.sessions import Session


@frozen
class ProjectPlace:
    """The place of a project, session or composition."""

    thread_id: int
    chat_id: int
    topic_id: int
    space: Space


@frozen(kw_only=True)
class Project:
    """A project in numbers, which count its sessions that are on the record and have messages."""

    id: int
    """The id of the project's thread."""
    name: str | None
    """The name of its topic and group; None: it is a private chat, or has no name."""
    chat_id: int
    topic_id: int
    space: Space
    created_at: datetime
    accessed: datetime | None
    """When one of its sessions was last used."""
    sessions: int
    registered: int
    tokens: int
    messages: int


@frozen
class ProjectPage:
    """A page of projects, the last used first, with their total."""

    total: int
    projects: tuple[Project, ...]


@frozen
class SessionRecord:
    """A session with all of its markers and versions."""

    thread_id: int
    chat_id: int
    topic_id: int
    place: str | None
    """The name of its topic and group."""
    session: Session
    markers: tuple[Keepit, ...]
    versions: tuple[Version, ...]


@frozen(kw_only=True)
class ProjectManifest:
    """A project with some of its registered sessions, newest first, and its newest compositions."""

    id: int
    name: str | None
    chat_id: int
    topic_id: int
    created_at: datetime
    accessed: datetime
    total: int
    """The total of registered sessions."""
    sessions: tuple[SessionRecord, ...]
    compositions: tuple[Composition, ...]


@frozen
class PreviewedMarker:
    """A marker, and whether it would survive."""

    id: int
    weight: Decimal
    content: str
    survives: bool


@frozen
class DecayPreview:
    """The markers of a session with their fate, the most important first."""

    threshold: Decimal
    """The least weight that survives; it may be above 1."""
    markers: tuple[PreviewedMarker, ...]


@frozen
class FoundSession:
    """The session to which a search result belongs."""

    kind: str
    id: int
    session_id: int
    version: int | None
    """The number of the version, if one was found."""
