"""Known people, invitations, and groups' settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, field
from datetime import datetime
from typing import Literal

from relay.core.frozen import frozen
from relay.core.models import Space
from relay.memory.rows.choices import Choices, StoredChoices

TokenKind = Literal["token", "session", "link", "calendar"]


@frozen
class Member:
    """A person with access."""

    user_id: int
    role: str
    """admin or user."""
    name: str


@frozen
class Person:
    """A person in the database."""

    user_id: int
    name: str
    role: str
    """admin, user, asking, refused or blocked."""
    username: str | None = None
    decided_by_name: str | None = None
    decided_at: datetime | None = None
    let_in: bool = False
    """They once had access."""

    @property
    def may_use(self) -> bool:
        """Tells whether they may use the bot."""
        return self.role in ("admin", "user")


@frozen(kw_only=True)
class DecidedPerson(Person):
    """A person about whom a decision was made."""

    changed: bool
    """This decision took effect; False: an earlier one already had."""


@frozen
class Invitation:
    """An open invitation."""

    id: int
    for_whom: str
    made_by_name: str | None
    expires_at: datetime


@frozen
class KnownPeople:
    """Everyone in the database."""

    people: tuple[Person, ...]
    """People with access, and those who ask for it."""
    out: tuple[Person, ...]
    """The newest people without access."""
    out_count: int
    invites: tuple[Invitation, ...]


@frozen
class GroupPlace:
    """Which messages the bot answers in a group's topic, and whose memory the group is lent; None: not set."""

    here: str | None
    """The topic's own setting: all, addressed or off."""
    everywhere: str | None
    lender: int | None

    @property
    def answers(self) -> str | None:
        """Returns the setting that applies in the topic."""
        return self.here or self.everywhere


@frozen
class ApiCaller:
    """The person to whom an API token belongs."""

    user_id: int
    kind: TokenKind
    name: str | None = None
    role: str | None = None
    """Their role in the database: admin, user, asking, refused or blocked."""
    choices: StoredChoices = field(default_factory=Choices)


@frozen
class ApiToken:
    """A person's token for the API."""

    id: int
    name: str
    created_at: datetime
    used_at: datetime | None
    """When it was last used, to the minute; None: never."""


@frozen
class ApiRequest:
    """The state of a request with an idempotency key."""

    state: Literal["new", "running", "other", "done", "erased"]
    """other: the key belongs to another request. erased: it is done, and its answer was erased."""
    status: int = 0
    content_type: str = ""
    body: str = ""
    groups: Sequence[int] = ()
    """The chats of the groups that the answer may quote."""


@frozen
class SpokenGroup:
    """A group in which a person spoke."""

    space_id: int
    chat_id: int
    name: str
    """Empty: unknown."""


@frozen
class CalendarToken:
    """The token in the address of a person's calendar."""

    created_at: datetime
    used_at: datetime | None = None


@frozen
class Marks:
    """A text for each subject of a space, which changes when something of the subject does."""

    space: Space
    memory: str
    version: str
    composition: str
    reminder: str
    preference: str

    def changed_since(self, before: Marks) -> list[str]:
        """Returns the subjects that have changed."""
        was = asdict(before)
        return [subject for subject, mark in asdict(self).items() if mark != was[subject]]
